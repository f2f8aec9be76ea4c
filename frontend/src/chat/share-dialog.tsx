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

const lifetimes: { value: Days; label: string }[] = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
];

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
      toast("The link no longer works.");
    },
  });
  const failure = create.error ?? remove.error;
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Share this conversation"
      description="Anyone with the link can read the messages up to now. Your name, files and anything you write later stay private."
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
            <span className="font-medium text-sm">The link works for</span>
            <Segmented
              label="The link works for"
              value={days}
              onChange={setDays}
              options={lifetimes}
            />
          </div>
          <DialogActions>
            <Button onClick={() => create.mutate()} busy={create.isPending}>
              <Link2 aria-hidden className="size-4" />
              Create link
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
  const url = new URL(`/share/${share.token}`, window.location.origin).href;
  return (
    <>
      <input
        readOnly
        aria-label="Link"
        value={url}
        onFocus={(event) => event.target.select()}
        className={inputClass}
      />
      <p className="text-muted-foreground text-xs">
        It works until {formatDay(share.expires_at)}. Your links are listed in the settings.
      </p>
      <DialogActions>
        <Button variant="ghost" onClick={onRemove} busy={removing}>
          Delete link
        </Button>
        <Button onClick={() => void copy(url)}>
          {copied ? (
            <Check aria-hidden className="size-4" />
          ) : (
            <Copy aria-hidden className="size-4" />
          )}
          {copied ? "Copied" : "Copy link"}
        </Button>
      </DialogActions>
    </>
  );
}
