import { useMutation } from "@tanstack/react-query";
import { Check, Copy, Link2 } from "lucide-react";
import { createShare, deleteShare } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { Share } from "@/api/types";
import { useCopy } from "@/lib/clipboard";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";

interface ShareDialogProps {
  conversationId: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** Makes a public link to the branch that is shown, and takes it back again. */
export function ShareDialog({ conversationId, open, onOpenChange }: ShareDialogProps) {
  const create = useMutation({ mutationFn: () => createShare(conversationId) });
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
        <DialogActions>
          <Button onClick={() => create.mutate()} busy={create.isPending}>
            <Link2 aria-hidden className="size-4" />
            Create link
          </Button>
        </DialogActions>
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
