import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { getAppeal, postAppeal } from "@/api/appeals";
import { ApiError, errorMessage } from "@/api/errors";
import type { Appeal } from "@/api/types";
import { cn } from "@/lib/cn";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { inputClass } from "@/ui/field";

const MAX_REASON = 2000;

/** What a reader can do about a stopped prompt or answer: ask a person, and read what they said. */
export function AppealControl({ generationId }: { generationId: string }) {
  const key = ["appeal", generationId];
  const [asking, setAsking] = useState(false);
  const client = useQueryClient();
  const { data: appeal } = useQuery({ queryKey: key, queryFn: () => getAppeal(generationId) });
  const send = useMutation({
    mutationFn: (reason: string) => postAppeal(generationId, reason),
    onSuccess: (sent) => {
      client.setQueryData(key, sent);
      setAsking(false);
    },
    onError: (error) => {
      // Another tab was sooner: what is known of that appeal takes the form's place.
      if (!isAlreadyAppealed(error)) return;
      setAsking(false);
      void client.invalidateQueries({ queryKey: key });
    },
  });

  if (appeal === undefined) return null;
  if (appeal) return <AppealState appeal={appeal} />;
  return (
    <>
      <Button variant="outline" size="sm" onClick={() => setAsking(true)}>
        <Trans>Ask for a review</Trans>
      </Button>
      <Dialog
        open={asking}
        onOpenChange={setAsking}
        title={t`Ask for a review`}
        description={t`A person will look at this decision. They see your reason, and the text where it is kept.`}
      >
        <ReasonForm
          busy={send.isPending}
          error={send.error && !isAlreadyAppealed(send.error) ? errorMessage(send.error) : null}
          onSubmit={send.mutate}
        />
      </Dialog>
    </>
  );
}

const STATES = {
  open: msg`Your appeal was sent. A person will look at it.`,
  confirmed: msg`A person has looked at this: the decision stands.`,
  overturned: msg`A person has looked at this: it should have been allowed. Thank you for telling us.`,
} as const;

function AppealState({ appeal }: { appeal: Appeal }) {
  return (
    <p role="status" className="text-muted-foreground">
      {t(STATES[appeal.state])}
      {appeal.state !== "open" && appeal.note && <> “{appeal.note}”</>}
    </p>
  );
}

interface ReasonFormProps {
  busy: boolean;
  error: string | null;
  onSubmit: (reason: string) => void;
}

function ReasonForm({ busy, error, onSubmit }: ReasonFormProps) {
  const [reason, setReason] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit(reason.trim());
  };
  return (
    <form onSubmit={submit}>
      <textarea
        aria-label={t`Reason`}
        dir="auto"
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        maxLength={MAX_REASON}
        rows={4}
        placeholder={t`What you wanted, and why it should be allowed (voluntary)`}
        className={cn(inputClass, "h-auto resize-none py-2.5")}
      />
      {error && (
        <p role="alert" className="mt-1 text-destructive text-sm">
          {error}
        </p>
      )}
      <DialogActions>
        <Button type="submit" busy={busy}>
          <Trans>Send appeal</Trans>
        </Button>
      </DialogActions>
    </form>
  );
}

const isAlreadyAppealed = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409;
