import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation } from "@tanstack/react-query";
import { Check, Copy, Link2 } from "lucide-react";
import { useState } from "react";
import { createShare, deleteShare } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { Share } from "@/api/types";
import { useCopy } from "@/lib/clipboard";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Segmented } from "@/ui/segmented";
import { toast } from "@/ui/toast";

type Days = "7" | "30" | "90" | "365";

const lifetimes = (): { value: Days; label: string }[] => [
  { value: "7", label: inDays(7) },
  { value: "30", label: inDays(30) },
  { value: "90", label: inDays(90) },
  { value: "365", label: t`1 year` },
];

const inDays = (days: number): string => plural(days, { one: "# day", other: "# days" });

interface ShareDialogProps {
  conversationId: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** Makes a public link to the branch that is shown, and takes it back again. */
export function ShareDialog({ conversationId, open, onOpenChange }: ShareDialogProps) {
  const [days, setDays] = useState<Days>("30");
  const create = useMutation({ mutationFn: () => createShare(conversationId, Number(days)) });
  const remove = useMutation({
    mutationFn: (share: Share) => deleteShare(share.id),
    onSuccess: () => {
      create.reset();
      toast(t`The link no longer works.`);
    },
  });
  const failure = create.error ?? remove.error;
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t`Share this conversation`}
      description={t`Anyone with the link can read the messages up to now. Your name, files and anything you write later stay private.`}
    >
      {failure && <Notice tone="error">{errorMessage(failure)}</Notice>}
      {create.data ? (
        <SharedLink
          share={create.data}
          onRemove={() => remove.mutate(create.data)}
          removing={remove.isPending}
        />
      ) : (
        <>
          <div className="flex flex-col items-start gap-1.5">
            <span className="font-medium text-sm">
              <Trans>The link works for</Trans>
            </span>
            <Segmented
              label={t`The link works for`}
              value={days}
              onChange={setDays}
              options={lifetimes()}
            />
          </div>
          <DialogActions>
            <Button onClick={() => create.mutate()} busy={create.isPending}>
              <Link2 aria-hidden className="size-4" />
              <Trans>Create link</Trans>
            </Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  );
}

interface SharedLinkProps {
  share: Share;
  removing: boolean;
  onRemove: () => void;
}

function SharedLink({ share, removing, onRemove }: SharedLinkProps) {
  const [copied, copy] = useCopy();
  const until = formatDay(share.expires_at);
  const url = new URL(`/share/${share.token}`, window.location.origin).href;
  return (
    <>
      <input
        readOnly
        aria-label={t`Link`}
        dir="ltr"
        value={url}
        onFocus={(event) => event.target.select()}
        className={inputClass}
      />
      <p className="text-muted-foreground text-xs">
        <Trans>It works until {until}. Your links are listed in the settings.</Trans>
      </p>
      <DialogActions>
        <Button variant="ghost" onClick={onRemove} busy={removing}>
          <Trans>Delete link</Trans>
        </Button>
        <Button onClick={() => void copy(url)}>
          {copied ? (
            <Check aria-hidden className="size-4" />
          ) : (
            <Copy aria-hidden className="size-4" />
          )}
          {copied ? t`Copied` : t`Copy link`}
        </Button>
      </DialogActions>
    </>
  );
}
