import { AttachmentPrimitive, ComposerPrimitive, useAuiState } from "@assistant-ui/react";
import { t } from "@lingui/core/macro";
import { CircleAlert, FileText, ImageIcon, X } from "lucide-react";
import { useEffect, useState } from "react";
import { Spinner } from "@/ui/spinner";
import { FileChip } from "./file-chip";

/** The files of the message being written, with their upload state. */
export function ComposerAttachments() {
  return (
    <div className="flex flex-wrap gap-2 px-2 pt-2 empty:hidden">
      <ComposerPrimitive.Attachments>{() => <Upload />}</ComposerPrimitive.Attachments>
    </div>
  );
}

function Upload() {
  const { name, type, file, status } = useAuiState((state) => state.attachment);
  const preview = usePreview(file);
  const failed = status.type === "incomplete";
  const icon = () => {
    if (status.type === "running") return <Spinner />;
    if (failed) return <CircleAlert aria-hidden className="text-destructive" />;
    if (preview) return <img src={preview} alt="" className="size-full object-cover" />;
    return type === "image" ? <ImageIcon aria-hidden /> : <FileText aria-hidden />;
  };
  const error = failed ? ("message" in status && status.message) || t`Upload failed` : undefined;
  return (
    <AttachmentPrimitive.Root className="relative">
      <FileChip name={name} icon={icon()} error={error} />
      <AttachmentPrimitive.Remove
        aria-label={t`Remove ${name}`}
        className="absolute -top-1.5 -end-1.5 flex size-5 cursor-pointer items-center justify-center rounded-full bg-primary text-primary-foreground"
      >
        <X aria-hidden className="size-3" />
      </AttachmentPrimitive.Remove>
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
