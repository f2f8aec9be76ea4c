import { Trans } from "@lingui/react/macro";

/** Says below an answer that no model wrote it for this question: it was stored, and none could. */
export function OutageAnswerNotice() {
  return (
    <p role="status" className="mt-2 text-muted-foreground text-sm">
      <Trans>
        No model could answer just then. This is the stored answer to the same question.
      </Trans>
    </p>
  );
}
