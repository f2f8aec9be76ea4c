import { t } from "@lingui/core/macro";
import { CircleAlert, FileText, ImageIcon, X } from "lucide-react";
import { useEffect, useState } from "react";
import { Spinner } from "@/ui/spinner";
import type { ChosenFile } from "./attachments";
import { useComposing, useComposingState } from "./composing";
import { FileChip } from "./file-chip";

/** The files of the message being written, with their upload state. */
export function ComposerAttachments() {
  const files = useComposingState((state) => state.files);
  return (
    <div className="flex flex-wrap gap-2 px-2 pt-2 empty:hidden">
      {files.map((chosen) => (
        <Upload key={chosen.id} chosen={chosen} />
      ))}
    </div>
  );
}

function Upload({ chosen }: { chosen: ChosenFile }) {
  const { name, type, file, status } = chosen;
  const composing = useComposing();
  const preview = usePreview(file);
  const failed = status.type === "failed";
  const icon = () => {
    if (status.type === "uploading") return <Spinner />;
    if (failed) return <CircleAlert aria-hidden className="text-destructive" />;
    if (preview) return <img src={preview} alt="" className="size-full object-cover" />;
    return type === "image" ? <ImageIcon aria-hidden /> : <FileText aria-hidden />;
  };
  const error = failed ? status.message || t`Upload failed` : undefined;
  return (
    <div className="relative">
      <FileChip name={name} icon={icon()} error={error} />
      <button
        type="button"
        onClick={() => composing.remove(chosen)}
        aria-label={t`Remove ${name}`}
        className="absolute -top-1.5 -end-1.5 flex size-5 cursor-pointer items-center justify-center rounded-full bg-primary text-primary-foreground"
      >
        <X aria-hidden className="size-3" />
      </button>
    </div>
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
