import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import {
  Archive,
  ArchiveRestore,
  Ellipsis,
  FileJson,
  FileText,
  FolderInput,
  Pencil,
  Pin,
  PinOff,
  Printer,
  Tag,
  Trash2,
} from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { NavLink, useNavigate } from "react-router";
import { exportPath } from "@/api/conversations";
import type { ConversationSummary } from "@/api/types";
import { cn } from "@/lib/cn";
import { download } from "@/lib/download";
import { Menu, MenuItem, MenuSeparator } from "@/ui/menu";
import { Spinner } from "@/ui/spinner";
import { RenameField } from "./rename-field";
import { useConversationActions } from "./use-conversation-actions";

const MoveDialog = lazy(() => import("./move-dialog"));
const TagsDialog = lazy(() => import("./tags-dialog"));

/** One conversation in a list: a link, a menu, and its own rename field. */
export function ConversationRow({ row }: { row: ConversationSummary }) {
  const [renaming, setRenaming] = useState(false);
  const [tagging, setTagging] = useState(false);
  const [moving, setMoving] = useState(false);
  const actions = useConversationActions();
  const navigate = useNavigate();
  const title = row.title || t`New chat`;

  if (renaming) {
    return (
      <RenameField
        title={row.title}
        onDone={(next) => {
          setRenaming(false);
          if (next && next !== row.title) void actions.rename(row, next);
        }}
      />
    );
  }
  return (
    <div className="group/row relative">
      <NavLink
        to={`/c/${row.id}`}
        onDoubleClick={() => setRenaming(true)}
        className={({ isActive }) =>
          cn(
            "flex h-9 items-center gap-2 rounded-lg pe-9 ps-2.5 text-sm hover:bg-hover group-focus-within/row:bg-hover group-has-data-popup-open/row:bg-hover pointer-coarse:h-11",
            isActive && "bg-hover font-medium",
          )
        }
      >
        <span className="truncate" title={title} dir="auto">
          {title}
        </span>
        {row.generating && <Spinner className="ms-auto size-3.5 shrink-0 text-muted-foreground" />}
      </NavLink>
      <Menu
        trigger={
          <button
            type="button"
            aria-label={t`Options for ${title}`}
            className="absolute top-1/2 end-1 flex size-7 -translate-y-1/2 cursor-pointer items-center justify-center rounded-md text-muted-foreground opacity-0 hover:text-foreground focus-visible:opacity-100 group-hover/row:opacity-100 data-popup-open:opacity-100 pointer-coarse:size-9 pointer-coarse:opacity-100"
          >
            <Ellipsis aria-hidden className="size-4.5" />
          </button>
        }
      >
        <MenuItem icon={<Pencil aria-hidden />} onSelect={() => setRenaming(true)}>
          <Trans>Rename</Trans>
        </MenuItem>
        {!row.archived && (
          <MenuItem
            icon={row.pinned ? <PinOff aria-hidden /> : <Pin aria-hidden />}
            onSelect={() => void actions.pin(row, !row.pinned)}
          >
            {row.pinned ? t`Unpin` : t({ message: "Pin", context: "verb" })}
          </MenuItem>
        )}
        <MenuItem
          icon={row.archived ? <ArchiveRestore aria-hidden /> : <Archive aria-hidden />}
          onSelect={() => void actions.archive(row, !row.archived)}
        >
          {row.archived ? t`Unarchive` : t({ message: "Archive", context: "verb" })}
        </MenuItem>
        <MenuItem icon={<Tag aria-hidden />} onSelect={() => setTagging(true)}>
          <Trans>Tags</Trans>
        </MenuItem>
        <MenuItem icon={<FolderInput aria-hidden />} onSelect={() => setMoving(true)}>
          <Trans>Move to a project</Trans>
        </MenuItem>
        <MenuItem
          icon={<FileText aria-hidden />}
          onSelect={() => download(exportPath(row.id, "markdown"))}
        >
          <Trans>Export as Markdown</Trans>
        </MenuItem>
        <MenuItem
          icon={<FileJson aria-hidden />}
          onSelect={() => download(exportPath(row.id, "json"))}
        >
          <Trans>Export as JSON</Trans>
        </MenuItem>
        <MenuItem icon={<Printer aria-hidden />} onSelect={() => void navigate(`/print/${row.id}`)}>
          <Trans>Print or save as PDF</Trans>
        </MenuItem>
        <MenuSeparator />
        <MenuItem danger icon={<Trash2 aria-hidden />} onSelect={() => void actions.remove(row)}>
          <Trans>Delete</Trans>
        </MenuItem>
      </Menu>
      <Suspense fallback={null}>
        {tagging && <TagsDialog row={row} close={() => setTagging(false)} />}
        {moving && <MoveDialog row={row} close={() => setMoving(false)} />}
      </Suspense>
    </div>
  );
}
