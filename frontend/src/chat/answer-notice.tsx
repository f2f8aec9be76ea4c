import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ComponentProps, ReactNode } from "react";
import { Link } from "react-router";
import { ApiError, NetworkError } from "@/api/errors";
import { HelpLink } from "@/help/link";
import type { Topic } from "@/help/topics";
import { useCountdown } from "@/lib/countdown";
import { formatCountdown } from "@/lib/time";
import { Button, buttonClass } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { AppealControl } from "./appeal";
import { supportTitle } from "./support-card";
import { useThreadActions } from "./thread-actions";
import type { LiveAnswer, ViewMessage } from "./view";

/** What went otherwise than hoped with an answer, in words; nothing when all is well. */
export function AnswerNotice({ message }: { message: ViewMessage }) {
  const { live } = message;
  if (live?.phase === "failed") {
    // Refused for self-harm: the support card above says all.
    const isSelfHarm = live.error instanceof ApiError && live.error.isSelfHarm;
    return isSelfHarm ? null : <TurnFailed live={live} />;
  }
  if (live?.phase === "reconnecting")
    return (
      <Quiet>
        <Trans>Reconnecting…</Trans>
      </Quiet>
    );
  if (live) return null;
  switch (message.status) {
    case "cancelled":
      return (
        <CutShort message={message}>
          <Trans>You stopped this answer.</Trans>
        </CutShort>
      );
    case "blocked":
      return message.support ? <LeftOut message={message} /> : <Blocked message={message} />;
    case "failed":
      return <StoredFailure message={message} />;
    case "completed":
      return <Cut message={message} />;
    case "pending":
      return null;
  }
}

/** Why an answer ended before the model was done with it. */
function Cut({ message }: { message: ViewMessage }) {
  if (message.finish_reason === "length") {
    return (
      <CutShort message={message}>
        <Trans>The answer reached its maximum length.</Trans>
      </CutShort>
    );
  }
  if (message.finish_reason === "loop") {
    return (
      <Quiet>
        <Trans>The answer had begun to repeat itself, so it was ended here.</Trans>
      </Quiet>
    );
  }
  return null;
}

/** An answer that could go on, and a way to have it do so. */
function CutShort({ message, children }: { message: ViewMessage; children: ReactNode }) {
  const { continueAnswer, running } = useThreadActions();
  return (
    <div className="flex flex-wrap items-center gap-x-3">
      <Quiet>{children}</Quiet>
      {message.content && (
        <Button
          variant="outline"
          size="sm"
          className="mt-2"
          disabled={running}
          onClick={() => continueAnswer(message)}
        >
          <Trans>Continue</Trans>
        </Button>
      )}
    </div>
  );
}

function Quiet({ children }: { children: ReactNode }) {
  return (
    <p role="status" className="mt-2 text-muted-foreground text-sm">
      {children}
    </p>
  );
}

/** An answer that was stopped for self-harm; the support card above says all of a refused prompt. */
function LeftOut({ message }: { message: ViewMessage }) {
  return message.content ? (
    <Quiet>
      <Trans>The rest of this answer was left out.</Trans>
    </Quiet>
  ) : null;
}

function Blocked({ message }: { message: ViewMessage }) {
  const appeal = (
    <>
      {message.generation_id && <AppealControl generationId={message.generation_id} />}
      <HelpLink topic="refused" />
    </>
  );
  return message.content ? (
    <Notice
      tone="blocked"
      title={t`The rest of this answer was withheld`}
      actions={appeal}
      className="mt-3"
    >
      <Trans>
        It was going to break the usage policy. You can rephrase the question, or regenerate.
      </Trans>
    </Notice>
  ) : (
    <Notice
      tone="blocked"
      title={t`This request can't be answered`}
      actions={appeal}
      className="mt-1"
    >
      <Trans>
        It goes against the usage policy, so no model has seen it. You can edit the message and send
        it again.
      </Trans>
    </Notice>
  );
}

function StoredFailure({ message }: { message: ViewMessage }) {
  const { regenerate, running } = useThreadActions();
  const retry = (
    <>
      <Button variant="outline" size="sm" disabled={running} onClick={() => regenerate(message)}>
        <Trans>Try again</Trans>
      </Button>
      <HelpLink topic="failed" />
    </>
  );
  return (
    <Notice
      tone="error"
      title={t`The answer could not be finished`}
      actions={retry}
      className="mt-3"
    >
      {message.content ? t`What came before the failure is above.` : t`Nothing was generated.`}
    </Notice>
  );
}

/** A turn that the server refused, that broke off, or that never reached it, and why. */
function TurnFailed({ live }: { live: LiveAnswer }) {
  const { retry, dismiss } = useThreadActions();
  const left = useCountdown(live.retryAt);
  const wait = formatCountdown(left);
  const { tone, title, text, topic } = describeFailure(live);
  const tooLong = live.error instanceof ApiError && live.error.isTooLong;
  const actions = (
    <>
      {tooLong ? (
        <Link to="/" className={buttonClass("outline", "sm")}>
          <Trans>New chat</Trans>
        </Link>
      ) : (
        <Button variant="outline" size="sm" onClick={retry} disabled={left > 0}>
          {left > 0 ? t`Try again in ${wait}` : t`Try again`}
        </Button>
      )}
      {live.messageId === null && (
        <Button variant="ghost" size="sm" onClick={dismiss}>
          <Trans>Dismiss</Trans>
        </Button>
      )}
      <HelpLink topic={topic} />
    </>
  );
  return (
    <Notice tone={tone} title={title} actions={actions} className="mt-1">
      {text}
    </Notice>
  );
}

interface Failure {
  tone: ComponentProps<typeof Notice>["tone"];
  title: string;
  text: string;
  topic: Topic;
}

export function describeFailure({ error }: LiveAnswer): Failure {
  const text = error?.message ?? "";
  if (error instanceof NetworkError) {
    return { tone: "offline", title: t`Not sent`, text, topic: "offline" };
  }
  if (error instanceof ApiError && error.isRateLimit) {
    return { tone: "warning", title: t`Too many messages`, text, topic: "limit" };
  }
  if (error instanceof ApiError && error.code === "insufficient_quota") {
    return { tone: "warning", title: t`The budget is used up`, text, topic: "budget" };
  }
  if (error instanceof ApiError && error.isSelfHarm) {
    return { tone: "support", title: supportTitle(), text, topic: "refused" };
  }
  if (error instanceof ApiError && error.isBlocked) {
    return { tone: "blocked", title: t`This request can't be answered`, text, topic: "refused" };
  }
  if (error instanceof ApiError && error.isTooLong) {
    return { tone: "warning", title: t`Too long for this model`, text, topic: "failed" };
  }
  if (error instanceof ApiError && error.status === 503) {
    return { tone: "warning", title: t`Parley is busy`, text, topic: "busy" };
  }
  return { tone: "error", title: t`The answer could not be generated`, text, topic: "failed" };
}
