import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "react-router";
import { listConversations } from "@/api/conversations";
import type { ProjectView } from "@/api/types";
import { listKey } from "@/chat/cache";
import { cn } from "@/lib/cn";
import { formatDay } from "@/lib/time";
import { buttonClass } from "@/ui/button";
import { Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";

/** The caller's own chats in a project, and the way to one more. */
export function ProjectChats({ project }: { project: ProjectView }) {
  const filter = { project_id: project.id, archived: false };
  return (
    <Section title={t`Chats`}>
      {!project.archived_at && (
        <Link
          to={`/?project=${project.id}`}
          className={cn(buttonClass("outline", "sm"), "self-start")}
        >
          <Trans>New chat in this project</Trans>
        </Link>
      )}
      <PagedList
        label={t`Chats`}
        queryKey={listKey(filter)}
        load={(cursor) => listConversations(filter, cursor)}
        empty={t`You have no chats here yet. A chat is moved here by its menu in the list.`}
      >
        {(chat) => (
          <ListRow
            key={chat.id}
            title={
              <Link to={`/c/${chat.id}`} className="hover:underline" dir="auto">
                {chat.title || t`New chat`}
              </Link>
            }
            note={formatDay(chat.updated_at)}
          />
        )}
      </PagedList>
    </Section>
  );
}
