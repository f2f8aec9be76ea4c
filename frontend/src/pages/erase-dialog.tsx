import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useRef } from "react";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";

interface EraseDialogProps {
  /** How many chats were chosen; "all" empties the trash. Null: it is closed. */
  what: number | "all" | null;
  busy: boolean;
  onClose: () => void;
  onErase: () => void;
}

/** Asks once more before chats of the trash are gone for good. */
export function EraseDialog({ what, busy, onClose, onErase }: EraseDialogProps) {
  // What cannot be undone is never a key's press away.
  const cancel = useRef<HTMLButtonElement>(null);
  const count = typeof what === "number" ? what : 0;
  return (
    <Dialog
      open={what !== null}
      onOpenChange={(open) => !open && !busy && onClose()}
      title={
        what === "all"
          ? t`Empty the trash?`
          : plural(count, { one: "Delete # chat for good?", other: "Delete # chats for good?" })
      }
      description={t`This can't be undone: messages, files and shared links are erased too.`}
      initialFocus={cancel}
    >
      <DialogActions>
        <Button ref={cancel} variant="outline" disabled={busy} onClick={onClose}>
          <Trans>Cancel</Trans>
        </Button>
        <Button variant="danger" busy={busy} onClick={onErase}>
          <Trans>Delete for good</Trans>
        </Button>
      </DialogActions>
    </Dialog>
  );
}
