import {
  ActionBarPrimitive,
  ComposerPrimitive,
  MessagePrimitive,
  useAuiState,
} from "@assistant-ui/react";
import { Pencil } from "lucide-react";
import { buttonClass, IconButton } from "@/ui/button";
import { MessageAttachments } from "./attachment-chips";
import { BranchPicker } from "./branch-picker";
import { CopyButton } from "./copy-button";
import { useThreadActions, useViewMessage } from "./thread-actions";
import { SENT_ID } from "./view";

/** What the reader wrote: a bubble at the right, as plain text. */
export function UserMessage() {
  const message = useViewMessage();
  const { canEdit } = useThreadActions();
  const running = useAuiState((state) => state.thread.isRunning);
  return (
    <MessagePrimitive.Root
      className="group/message flex flex-col items-end pt-5 pb-1"
      aria-label="You"
      role="article"
    >
      <MessageAttachments />
      {message.content && (
        <div
          dir="auto"
          className="max-w-[85%] whitespace-pre-wrap break-words rounded-3xl bg-bubble px-5 py-2.5 leading-7 md:max-w-[75%]"
        >
          {message.content}
        </div>
      )}
      <div className="mt-1 flex min-h-8 items-center opacity-0 transition-opacity focus-within:opacity-100 group-hover/message:opacity-100 pointer-coarse:opacity-100">
        <BranchPicker message={message} />
        <CopyButton text={message.content} label="Copy message" />
        {canEdit && message.id !== SENT_ID && (
          <ActionBarPrimitive.Edit
            disabled={running}
            render={
              <IconButton label="Edit message">
                <Pencil className="size-4" />
              </IconButton>
            }
          />
        )}
      </div>
    </MessagePrimitive.Root>
  );
}

/** The same message while it is edited; sending makes a new branch. */
export function EditComposer() {
  return (
    <MessagePrimitive.Root className="py-5">
      <ComposerPrimitive.Root className="flex flex-col gap-3 rounded-3xl bg-bubble p-4">
        <ComposerPrimitive.Input
          autoFocus
          aria-label="Edit your message"
          maxRows={12}
          className="w-full resize-none bg-transparent leading-7 outline-none"
        />
        <div className="flex justify-end gap-2">
          <ComposerPrimitive.Cancel className={buttonClass("outline", "sm")}>
            Cancel
          </ComposerPrimitive.Cancel>
          <ComposerPrimitive.Send className={buttonClass("primary", "sm")}>
            Send
          </ComposerPrimitive.Send>
        </div>
      </ComposerPrimitive.Root>
    </MessagePrimitive.Root>
  );
}
