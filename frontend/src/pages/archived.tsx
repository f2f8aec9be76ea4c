import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Archive } from "lucide-react";
import { errorMessage } from "@/api/errors";
import { ConversationRow } from "@/sidebar/conversation-row";
import { ListEnd } from "@/sidebar/list-end";
import { useConversations } from "@/sidebar/use-conversations";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { EmptyState, PageLayout } from "./page-layout";

export function ArchivedPage() {
  const list = useConversations({ archived: true });
  const { rows } = list;
  return (
    <PageLayout
      title={t`Archived chats`}
      description={t`Out of the list, but kept. Search finds them too.`}
    >
      {list.isError && !list.isFetchNextPageError && rows.length > 0 && (
        <Notice tone="error">{errorMessage(list.error)}</Notice>
      )}
      {list.isPending ? (
        <Loading />
      ) : list.isError && rows.length === 0 ? (
        <Notice tone="error">{errorMessage(list.error)}</Notice>
      ) : rows.length === 0 ? (
        <EmptyState icon={<Archive aria-hidden />}>
          <Trans>Nothing is archived. Archive a chat from its menu in the sidebar.</Trans>
        </EmptyState>
      ) : (
        <ul className="flex flex-col gap-px">
          {rows.map((row) => (
            <li key={row.id}>
              <ConversationRow row={row} />
            </li>
          ))}
        </ul>
      )}
      <ListEnd list={list} />
    </PageLayout>
  );
}
