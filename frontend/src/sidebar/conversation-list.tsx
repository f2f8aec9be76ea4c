import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useId } from "react";
import { errorMessage } from "@/api/errors";
import type { ConversationSummary } from "@/api/types";
import { Button } from "@/ui/button";
import { Loading } from "@/ui/spinner";
import { ConversationRow } from "./conversation-row";
import { groupConversations } from "./groups";
import { ListEnd } from "./list-end";
import { useConversations } from "./use-conversations";

/** The sidebar's list: grouped, and longer as the reader scrolls. */
export function ConversationList() {
  const list = useConversations({ archived: false });
  const { rows } = list;

  if (list.isPending) return <Loading label={t`Loading conversations`} />;
  if (list.isError && rows.length === 0) {
    return (
      <div className="px-2.5 py-4 text-muted-foreground text-sm" role="alert">
        <p className="pb-3">{errorMessage(list.error)}</p>
        <Button variant="outline" size="sm" onClick={() => void list.refetch()}>
          <Trans>Try again</Trans>
        </Button>
      </div>
    );
  }
  if (rows.length === 0) {
    return (
      <p className="px-2.5 py-4 text-muted-foreground text-sm">
        <Trans>Your conversations will be listed here.</Trans>
      </p>
    );
  }
  return (
    <>
      {groupConversations(rows, new Date()).map((group) => (
        <ListGroup key={group.label} label={group.label} rows={group.rows} />
      ))}
      <ListEnd list={list} />
    </>
  );
}

function ListGroup({ label, rows }: { label: string; rows: ConversationSummary[] }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="pb-4">
      <h3
        id={id}
        className="px-2.5 pt-1 pb-1.5 font-medium text-muted-foreground text-xs first-letter:uppercase"
      >
        {label}
      </h3>
      <ul className="flex flex-col gap-px">
        {rows.map((row) => (
          <li key={row.id}>
            <ConversationRow row={row} />
          </li>
        ))}
      </ul>
    </section>
  );
}
