/** All chats as a list to tidy up: several at once, the archive, the trash, files in and out. */

import type { MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Download, MessagesSquare, Upload } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { type BulkAction, listTags } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { ConversationSummary } from "@/api/types";
import { tagsKey } from "@/chat/cache";
import { download } from "@/lib/download";
import { formatNumber } from "@/lib/numbers";
import { formatDay } from "@/lib/time";
import { ListEnd } from "@/sidebar/list-end";
import { useConversations } from "@/sidebar/use-conversations";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Segmented } from "@/ui/segmented";
import { Select } from "@/ui/select";
import { Loading } from "@/ui/spinner";
import { EraseDialog } from "./erase-dialog";
import { ImportDialog } from "./import-dialog";
import { EmptyState, PageLayout } from "./page-layout";
import { useChatChanges } from "./use-chat-changes";

type Which = "chats" | "archived" | "trash";

const LISTS = {
  chats: { filter: {}, actions: ["archive", "delete"], empty: msg`There are no chats yet.` },
  archived: {
    filter: { archived: true },
    actions: ["unarchive", "delete"],
    empty: msg`Nothing is archived.`,
  },
  trash: {
    filter: { deleted: true },
    actions: ["restore"],
    empty: msg`The trash is empty. A deleted chat can be restored for 30 days.`,
  },
} as const;

const LABELS: Record<BulkAction, MessageDescriptor> = {
  archive: msg({ message: "Archive", context: "verb" }),
  unarchive: msg({ message: "Unarchive", context: "verb" }),
  delete: msg`Delete`,
  restore: msg({ message: "Restore", context: "verb" }),
};

export function ChatsPage() {
  const [which, setWhich] = useState<Which>("chats");
  const [tag, setTag] = useState("");
  const [importing, setImporting] = useState(false);
  return (
    <PageLayout
      title={t`Your chats`}
      action={
        <div className="flex flex-wrap gap-2">
          <Button variant="outline" size="sm" onClick={() => setImporting(true)}>
            <Upload aria-hidden className="size-4" /> <Trans context="verb">Import</Trans>
          </Button>
          <Button variant="outline" size="sm" onClick={() => download("/api/conversations/export")}>
            <Download aria-hidden className="size-4" /> <Trans>Export all</Trans>
          </Button>
        </div>
      }
    >
      <div>
        <Segmented
          label={t`Which chats`}
          value={which}
          onChange={setWhich}
          options={[
            { value: "chats", label: t`Chats` },
            { value: "archived", label: t({ message: "Archived", context: "chats" }) },
            { value: "trash", label: t`Trash` },
          ]}
        />
      </div>
      {which === "chats" && <TagFilter tag={tag} onChange={setTag} />}
      <ChatList key={`${which} ${tag}`} which={which} tag={which === "chats" ? tag : ""} />
      <ImportDialog open={importing} onOpenChange={setImporting} />
    </PageLayout>
  );
}

/** The chats with one tag, where there are any. */
function TagFilter({ tag, onChange }: { tag: string; onChange: (tag: string) => void }) {
  const tags = useQuery({ queryKey: tagsKey, queryFn: listTags });
  const known = tags.data?.data ?? [];
  if (known.length === 0) return null;
  return (
    <div className="max-w-xs">
      <Select
        label={t`Tag`}
        value={tag}
        onChange={onChange}
        options={[
          { value: "", label: t`All chats` },
          ...known.map(({ tag: name, count }) => ({
            value: name,
            label: `${name} (${formatNumber(count)})`,
          })),
        ]}
      />
    </div>
  );
}

function ChatList({ which, tag }: { which: Which; tag: string }) {
  const { filter, actions, empty } = LISTS[which];
  const list = useConversations(tag ? { ...filter, tag } : filter);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [erasing, setErasing] = useState<string[] | "all" | null>(null);
  const { busy, change, erase } = useChatChanges();
  const ids = list.rows.map(({ id }) => id).filter((id) => chosen.has(id));
  const count = ids.length;
  const choose = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const act = async (action: BulkAction) => {
    if (await change(ids, action)) setChosen(new Set());
  };
  const eraseThem = async () => {
    if (erasing && (await erase(erasing))) setChosen(new Set());
    setErasing(null);
  };
  if (list.isPending) return <Loading />;
  if (list.isError && list.rows.length === 0) {
    return <Notice tone="error">{errorMessage(list.error)}</Notice>;
  }
  if (list.rows.length === 0) {
    return <EmptyState icon={<MessagesSquare aria-hidden />}>{t(empty)}</EmptyState>;
  }
  return (
    <div className="flex flex-col gap-3">
      <div className="flex min-h-9 flex-wrap items-center gap-3">
        <label className="flex items-center gap-3 text-sm">
          <input
            type="checkbox"
            className="size-4.5 accent-primary"
            checked={count === list.rows.length}
            onChange={(event) =>
              setChosen(new Set(event.target.checked ? list.rows.map(({ id }) => id) : []))
            }
          />
          {count > 0 ? plural(count, { one: "# chosen", other: "# chosen" }) : t`Choose all`}
        </label>
        {actions.map((action) => (
          <Button
            key={action}
            size="sm"
            variant={action === "delete" ? "danger" : "outline"}
            disabled={count === 0}
            busy={busy}
            onClick={() => void act(action)}
          >
            {t(LABELS[action])}
          </Button>
        ))}
        {which === "trash" && (
          <>
            <Button
              size="sm"
              variant="danger"
              disabled={count === 0 || busy}
              onClick={() => setErasing(ids)}
            >
              <Trans>Delete for good</Trans>
            </Button>
            <Button
              size="sm"
              variant="outline"
              className="ms-auto"
              disabled={busy}
              onClick={() => setErasing("all")}
            >
              <Trans>Empty trash</Trans>
            </Button>
          </>
        )}
      </div>
      <ul className="flex flex-col">
        {list.rows.map((row) => (
          <Row
            key={row.id}
            row={row}
            chosen={chosen.has(row.id)}
            onChoose={(on) => choose(row.id, on)}
          />
        ))}
      </ul>
      <ListEnd list={list} />
      <EraseDialog
        what={erasing === "all" ? "all" : (erasing?.length ?? null)}
        busy={busy}
        onClose={() => setErasing(null)}
        onErase={() => void eraseThem()}
      />
    </div>
  );
}

interface RowProps {
  row: ConversationSummary;
  chosen: boolean;
  onChoose: (chosen: boolean) => void;
}

function Row({ row, chosen, onChoose }: RowProps) {
  const day = formatDay(row.deleted_at ?? row.updated_at);
  const title = row.title || t`New chat`;
  return (
    <li className="flex min-h-11 items-center gap-3 border-border border-b text-sm">
      <input
        type="checkbox"
        aria-label={t`Choose ${title}`}
        className="size-4.5 shrink-0 accent-primary"
        checked={chosen}
        onChange={(event) => onChoose(event.target.checked)}
      />
      {row.deleted_at ? (
        <span dir="auto" className="min-w-0 flex-1 truncate">
          {title}
        </span>
      ) : (
        <Link to={`/c/${row.id}`} dir="auto" className="min-w-0 flex-1 truncate hover:underline">
          {title}
        </Link>
      )}
      {row.tags.map((name) => (
        <span
          key={name}
          dir="auto"
          className="max-w-32 shrink-0 truncate rounded-full bg-muted px-2 py-0.5 text-xs max-sm:hidden"
        >
          {name}
        </span>
      ))}
      <span className="shrink-0 text-muted-foreground text-xs">
        {row.deleted_at ? t`deleted ${day}` : day}
      </span>
    </li>
  );
}
