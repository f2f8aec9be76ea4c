import { Archive } from "lucide-react";
import { errorMessage } from "@/api/errors";
import { ConversationRow } from "@/sidebar/conversation-row";
import { useConversations, useWhenSeen } from "@/sidebar/use-conversations";
import { Notice } from "@/ui/notice";
import { Loading, Spinner } from "@/ui/spinner";
import { EmptyState, PageLayout } from "./page-layout";

export function ArchivedPage() {
  const list = useConversations({ archived: true });
  const { rows, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const end = useWhenSeen(() => void fetchNextPage(), hasNextPage && !isFetchingNextPage);
  return (
    <PageLayout
      title="Archived chats"
      description="Out of the list, but kept. Search finds them too."
    >
      {list.isPending ? (
        <Loading />
      ) : list.isError ? (
        <Notice tone="error">{errorMessage(list.error)}</Notice>
      ) : rows.length === 0 ? (
        <EmptyState icon={<Archive aria-hidden />}>
          Nothing is archived. Archive a chat from its menu in the sidebar.
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
      <div ref={end} className="flex h-8 items-center justify-center">
        {isFetchingNextPage && <Spinner className="text-muted-foreground" />}
      </div>
    </PageLayout>
  );
}
