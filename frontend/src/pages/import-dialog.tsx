import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { errorMessage } from "@/api/errors";
import { refreshLists } from "@/chat/cache";
import { Dialog } from "@/ui/dialog";
import { Notice } from "@/ui/notice";
import {
  chatsIn,
  FileRefused,
  type ImportProgress,
  importChats,
  MAX_FILE_BYTES,
} from "./import-chats";

interface ImportDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** Takes chats over from a file of another product, or from our own export. */
export function ImportDialog({ open, onOpenChange }: ImportDialogProps) {
  const client = useQueryClient();
  const id = useId();
  const [progress, setProgress] = useState<ImportProgress | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const take = async (file: File) => {
    setBusy(true);
    setFailure(null);
    setProgress(null);
    try {
      if (file.size > MAX_FILE_BYTES) throw new FileRefused(t`The file is larger than 300 MB.`);
      await importChats(chatsIn(await file.text()), setProgress);
    } catch (error) {
      setFailure(error instanceof FileRefused ? error.message : errorMessage(error));
    } finally {
      setBusy(false);
      refreshLists(client);
    }
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t`Import chats`}
      description={t`From ChatGPT or Claude: ask there for an export of your data, unpack it and choose conversations.json. From Open WebUI: a file of “Export Chats” in its settings. From Parley: a file of “Export all”. What is here already is not taken twice.`}
    >
      {failure && <Notice tone="error">{failure}</Notice>}
      <label htmlFor={id} className="font-medium text-sm">
        <Trans>File</Trans>
      </label>
      <input
        id={id}
        type="file"
        accept=".json,application/json"
        disabled={busy}
        className="text-sm file:me-3 file:cursor-pointer file:rounded-full file:border file:border-border file:bg-background file:px-4 file:py-2 file:font-medium"
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (file) void take(file);
        }}
      />
      {progress && <Progress progress={progress} busy={busy} />}
    </Dialog>
  );
}

function Progress({ progress, busy }: { progress: ImportProgress; busy: boolean }) {
  const { total, done, imported, present, refused } = progress;
  const left = refused.length;
  return (
    <div className="flex flex-col gap-2 text-sm">
      <progress
        className="w-full accent-primary"
        aria-label={t`Progress`}
        max={total}
        value={done}
      />
      <p role="status">
        {busy && (
          <>
            <Trans>
              {done} of {total} read.
            </Trans>{" "}
          </>
        )}
        <Trans>
          {imported} imported, {present} here already, {left} left out.
        </Trans>
      </p>
      {left > 0 && (
        <ul className="max-h-40 overflow-y-auto text-muted-foreground text-xs">
          {refused.slice(0, 100).map(({ title, reason }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: titles repeat
            <li key={index} dir="auto">
              {title}: {reason}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
