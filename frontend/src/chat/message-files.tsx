import { t } from "@lingui/core/macro";
import { FileText } from "lucide-react";
import type { Part } from "@/api/types";
import { FileChip } from "./file-chip";

/** The files of a sent message; images are shown from our own origin. */
export function MessageFiles({ parts }: { parts: Part[] }) {
  const files = parts.filter((part) => part.type === "image" || part.type === "file");
  if (files.length === 0) return null;
  return (
    <div className="mb-1.5 flex flex-wrap justify-end gap-2">
      {files.map((part) => {
        const address = `/api/attachments/${part.attachment_id}`;
        return (
          <a key={part.attachment_id} href={address} target="_blank" rel="noopener">
            {part.type === "image" ? (
              <img
                src={address}
                alt={part.filename ?? t`Attached image`}
                className="max-h-60 max-w-full rounded-2xl border border-border object-cover"
              />
            ) : (
              <FileChip name={part.filename ?? t`File`} icon={<FileText aria-hidden />} />
            )}
          </a>
        );
      })}
    </div>
  );
}
