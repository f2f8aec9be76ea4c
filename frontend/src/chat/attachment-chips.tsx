import {
  AttachmentPrimitive,
  ComposerPrimitive,
  MessagePrimitive,
  useAuiState,
} from "@assistant-ui/react";
import { CircleAlert, FileText, ImageIcon, X } from "lucide-react";
import { useEffect, useState } from "react";
import { cn } from "@/lib/cn";
import { Spinner } from "@/ui/spinner";

/** The files of the message being written, with their upload state. */
export function ComposerAttachments() {
  return (
    <div className="flex flex-wrap gap-2 px-2 pt-2 empty:hidden">
      <ComposerPrimitive.Attachments>{() => <ComposerChip />}</ComposerPrimitive.Attachments>
    </div>
  );
}

/** The files of a sent message. */
export function MessageAttachments() {
  return (
    <div className="mb-1.5 flex flex-wrap justify-end gap-2 empty:hidden">
      <MessagePrimitive.Attachments>{() => <Chip />}</MessagePrimitive.Attachments>
    </div>
  );
}

function ComposerChip() {
  return (
    <div className="relative">
      <Chip />
      <AttachmentPrimitive.Remove
        aria-label="Remove file"
        className="absolute -top-1.5 -right-1.5 flex size-5 cursor-pointer items-center justify-center rounded-full bg-primary text-primary-foreground"
      >
        <X aria-hidden className="size-3" />
      </AttachmentPrimitive.Remove>
    </div>
  );
}

function Chip() {
  const attachment = useAuiState((state) => state.attachment);
  const local = usePreview(attachment.file);
  const sent = attachment.file ? null : `/api/attachments/${attachment.id}`;
  const preview = local ?? (attachment.type === "image" ? sent : null);
  const { status } = attachment;
  const failed = status.type === "incomplete";
  return (
    <AttachmentPrimitive.Root
      className={cn(
        "flex h-12 max-w-60 items-center gap-2.5 rounded-xl border border-border bg-background py-1.5 pr-3 pl-1.5 text-sm",
        failed && "border-destructive",
      )}
    >
      <span className="flex size-9 shrink-0 items-center justify-center overflow-hidden rounded-lg bg-muted">
        {status.type === "running" ? (
          <Spinner />
        ) : failed ? (
          <CircleAlert aria-hidden className="size-4.5 text-destructive" />
        ) : preview ? (
          <img src={preview} alt="" className="size-full object-cover" />
        ) : attachment.type === "image" ? (
          <ImageIcon aria-hidden className="size-4.5" />
        ) : (
          <FileText aria-hidden className="size-4.5" />
        )}
      </span>
      <span className="flex min-w-0 flex-col leading-tight">
        <span className="truncate font-medium">{attachment.name}</span>
        {failed && (
          <span role="alert" className="truncate text-destructive text-xs">
            {("message" in status && status.message) || "Upload failed"}
          </span>
        )}
      </span>
    </AttachmentPrimitive.Root>
  );
}

/** A local address of an image that is being sent; nothing for other files. */
function usePreview(file: File | undefined): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!file?.type.startsWith("image/")) return;
    const created = URL.createObjectURL(file);
    setUrl(created);
    return () => {
      URL.revokeObjectURL(created);
      setUrl(null);
    };
  }, [file]);
  return url;
}
