import { t } from "@lingui/core/macro";
import { Pencil } from "lucide-react";
import { IconButton } from "@/ui/icon-button";
import { BranchPicker } from "./branch-picker";
import { CopyButton } from "./copy-button";
import { ImageTextNotice } from "./image-text-notice";
import { MemoryNote } from "./memory-note";
import { MessageFiles } from "./message-files";
import { useThreadActions } from "./thread-actions";
import { isStored, type ViewMessage } from "./view";

interface UserMessageProps {
  message: ViewMessage;
  answeredBy: string | null;
  onEdit: () => void;
}

/** What the reader wrote: a bubble at the right, as plain text. */
export function UserMessage({ message, answeredBy, onEdit }: UserMessageProps) {
  const { running } = useThreadActions();
  return (
    <article className="group/message flex flex-col items-end pt-5 pb-1" aria-label={t`You`}>
      <MessageFiles parts={message.parts} />
      <ImageTextNotice parts={message.parts} model={answeredBy} />
      {message.content && (
        <div
          dir="auto"
          className="max-w-[85%] whitespace-pre-wrap break-words rounded-3xl bg-bubble px-5 py-2.5 leading-7 md:max-w-[75%]"
        >
          {message.content}
        </div>
      )}
      <MemoryNote message={message} />
      <div className="mt-1 flex min-h-8 items-center opacity-0 transition-opacity focus-within:opacity-100 group-hover/message:opacity-100 pointer-coarse:opacity-100">
        <BranchPicker message={message} />
        <CopyButton text={message.content} label={t`Copy message`} />
        {isStored(message) && (
          <IconButton label={t`Edit message`} disabled={running} onClick={onEdit}>
            <Pencil className="size-4" />
          </IconButton>
        )}
      </div>
    </article>
  );
}
