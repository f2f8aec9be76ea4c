import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Bot, Copy, Ellipsis, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { deleteAssistant, duplicateAssistant, listAssistants } from "@/api/assistants";
import type { Assistant } from "@/api/types";
import { newChatWith } from "@/chat/assistants";
import { assistantsKey } from "@/chat/cache";
import { Button, buttonClass } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { IconButton } from "@/ui/icon-button";
import { Menu, MenuItem, MenuSeparator } from "@/ui/menu";
import { AssistantDialog } from "./assistant-dialog";
import { EmptyState, PageLayout } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { useChange } from "./use-change";

/** One's own assistants and those that are shared with one: to chat with, and to be changed. */
export function AssistantsPage() {
  /** Null: none; "new": one that there is not yet. */
  const [edited, setEdited] = useState<Assistant | "new" | null>(null);
  const [deleted, setDeleted] = useState<Assistant | null>(null);
  return (
    <PageLayout
      title={t`Assistants`}
      description={t`Instructions, a model and first prompts under a name, for chats that begin alike. They are yours alone until you share them.`}
      action={
        <Button onClick={() => setEdited("new")}>
          <Trans>Create assistant</Trans>
        </Button>
      }
    >
      <PagedList
        label={t`Assistants`}
        queryKey={[...assistantsKey, "list"]}
        load={listAssistants}
        empty={
          <EmptyState icon={<Bot aria-hidden />}>
            <Trans>
              There are no assistants yet. Make one for what you ask for again and again: a reviewer
              of your texts, a tutor, a translator.
            </Trans>
          </EmptyState>
        }
      >
        {(assistant) => (
          <AssistantRow
            key={assistant.id}
            assistant={assistant}
            edit={() => setEdited(assistant)}
            remove={() => setDeleted(assistant)}
          />
        )}
      </PagedList>
      {edited && (
        <AssistantDialog
          assistant={edited === "new" ? null : edited}
          onClose={() => setEdited(null)}
        />
      )}
      {deleted && <DeleteDialog assistant={deleted} onClose={() => setDeleted(null)} />}
    </PageLayout>
  );
}

interface AssistantRowProps {
  assistant: Assistant;
  edit: () => void;
  remove: () => void;
}

function AssistantRow({ assistant, edit, remove }: AssistantRowProps) {
  const navigate = useNavigate();
  const duplicate = useChange(assistantsKey, duplicateAssistant, t`The assistant is copied.`);
  const { id, name } = assistant;
  return (
    <ListRow
      title={
        <Link className="hover:underline" to={newChatWith(id)} dir="auto">
          {name}
        </Link>
      }
      note={[assistant.description, whose(assistant)].filter(Boolean).join(" · ")}
    >
      <button
        type="button"
        aria-label={t`Chat with ${name}`}
        className={buttonClass("outline", "sm")}
        onClick={() => void navigate(newChatWith(id))}
      >
        <Trans context="verb">Chat</Trans>
      </button>
      <Menu
        align="end"
        trigger={
          <IconButton label={t`Options for ${name}`}>
            <Ellipsis className="size-4.5" />
          </IconButton>
        }
      >
        {assistant.may_edit && (
          <MenuItem icon={<Pencil aria-hidden />} onSelect={edit}>
            <Trans>Edit</Trans>
          </MenuItem>
        )}
        <MenuItem icon={<Copy aria-hidden />} onSelect={() => duplicate.mutate(id)}>
          <Trans context="verb">Duplicate</Trans>
        </MenuItem>
        {assistant.may_edit && (
          <>
            <MenuSeparator />
            <MenuItem danger icon={<Trash2 aria-hidden />} onSelect={remove}>
              <Trans>Delete</Trans>
            </MenuItem>
          </>
        )}
      </Menu>
    </ListRow>
  );
}

function whose({ own, author: name, seen_by, edited_by }: Assistant): string {
  if (!own) return t`by ${name}`;
  return seen_by.length + edited_by.length > 0
    ? t({ message: "shared", context: "an assistant" })
    : t({ message: "only you", context: "an assistant" });
}

function DeleteDialog({ assistant, onClose }: { assistant: Assistant; onClose: () => void }) {
  const remove = useChange(assistantsKey, deleteAssistant, onClose);
  const { name } = assistant;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`Delete ${name}?`}
      description={t`Chats with it stay, and go on without its instructions. This can't be undone.`}
    >
      <DialogActions>
        <Button variant="outline" onClick={onClose}>
          <Trans>Keep it</Trans>
        </Button>
        <Button
          variant="danger"
          busy={remove.isPending}
          onClick={() => remove.mutate(assistant.id)}
        >
          <Trans>Delete assistant</Trans>
        </Button>
      </DialogActions>
    </Dialog>
  );
}
