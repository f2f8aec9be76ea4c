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
      title="Assistants"
      description="Instructions, a model and first prompts under a name, for chats that begin alike. They are yours alone until you share them."
      action={<Button onClick={() => setEdited("new")}>Create assistant</Button>}
    >
      <PagedList
        label="Assistants"
        queryKey={[...assistantsKey, "list"]}
        load={listAssistants}
        empty={
          <EmptyState icon={<Bot aria-hidden />}>
            There are no assistants yet. Make one for what you ask for again and again: a reviewer
            of your texts, a tutor, a translator.
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
  const duplicate = useChange(assistantsKey, duplicateAssistant, "The assistant is copied.");
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
        aria-label={`Chat with ${name}`}
        className={buttonClass("outline", "sm")}
        onClick={() => void navigate(newChatWith(id))}
      >
        Chat
      </button>
      <Menu
        align="end"
        trigger={
          <IconButton label={`Options for ${name}`}>
            <Ellipsis className="size-4.5" />
          </IconButton>
        }
      >
        {assistant.may_edit && (
          <MenuItem icon={<Pencil aria-hidden />} onSelect={edit}>
            Edit
          </MenuItem>
        )}
        <MenuItem icon={<Copy aria-hidden />} onSelect={() => duplicate.mutate(id)}>
          Duplicate
        </MenuItem>
        {assistant.may_edit && (
          <>
            <MenuSeparator />
            <MenuItem danger icon={<Trash2 aria-hidden />} onSelect={remove}>
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
    </ListRow>
  );
}

function whose({ own, author, seen_by, edited_by }: Assistant): string {
  if (!own) return `by ${author}`;
  return seen_by.length + edited_by.length > 0 ? "shared" : "only you";
}

function DeleteDialog({ assistant, onClose }: { assistant: Assistant; onClose: () => void }) {
  const remove = useChange(assistantsKey, deleteAssistant, onClose);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Delete ${assistant.name}?`}
      description="Chats with it stay, and go on without its instructions. This can't be undone."
    >
      <DialogActions>
        <Button variant="outline" onClick={onClose}>
          Keep it
        </Button>
        <Button
          variant="danger"
          busy={remove.isPending}
          onClick={() => remove.mutate(assistant.id)}
        >
          Delete assistant
        </Button>
      </DialogActions>
    </Dialog>
  );
}
