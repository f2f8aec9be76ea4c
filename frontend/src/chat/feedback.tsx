import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { ThumbsDown, ThumbsUp } from "lucide-react";
import { type FormEvent, useState } from "react";
import { cn } from "@/lib/cn";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { inputClass } from "@/ui/field";
import { IconButton } from "@/ui/icon-button";
import { useThreadActions } from "./thread-actions";
import type { ViewMessage } from "./view";

/** Thumbs up and down; down asks why, and the answer to that is voluntary. */
export function FeedbackButtons({ message }: { message: ViewMessage }) {
  const { giveFeedback } = useThreadActions();
  const [asking, setAsking] = useState(false);
  const rating = message.feedback?.rating ?? null;

  const rate = (next: 1 | -1) => {
    if (rating === next) return giveFeedback(message, null);
    giveFeedback(message, { rating: next, comment: "" });
    if (next === -1) setAsking(true);
  };

  return (
    <>
      <IconButton label={t`Good answer`} aria-pressed={rating === 1} onClick={() => rate(1)}>
        <ThumbsUp className={cn("size-4", rating === 1 && "fill-current text-foreground")} />
      </IconButton>
      <IconButton label={t`Bad answer`} aria-pressed={rating === -1} onClick={() => rate(-1)}>
        <ThumbsDown className={cn("size-4", rating === -1 && "fill-current text-foreground")} />
      </IconButton>
      <Dialog
        open={asking}
        onOpenChange={setAsking}
        title={t`What was wrong?`}
        description={t`Your words help to make answers better. They are stored with this answer.`}
      >
        <CommentForm
          onSubmit={(comment) => {
            if (comment) giveFeedback(message, { rating: -1, comment });
            setAsking(false);
          }}
        />
      </Dialog>
    </>
  );
}

function CommentForm({ onSubmit }: { onSubmit: (comment: string) => void }) {
  const [comment, setComment] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit(comment.trim());
  };
  return (
    <form onSubmit={submit}>
      <textarea
        aria-label={t`Comment`}
        dir="auto"
        value={comment}
        onChange={(event) => setComment(event.target.value)}
        maxLength={5000}
        rows={4}
        placeholder={t`Not true, not helpful, not safe …`}
        className={cn(inputClass, "h-auto resize-none py-2.5")}
      />
      <DialogActions>
        <Button type="submit">
          <Trans>Send</Trans>
        </Button>
      </DialogActions>
    </form>
  );
}
