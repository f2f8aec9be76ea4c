import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { ApiError } from "@/api/errors";
import { Notice } from "@/ui/notice";
import { ALL_HELP_LINES, helpLine } from "./help-lines";
import type { ViewMessage } from "./view";

/** Whether the reader is shown where to find help beside this answer. */
export function showsSupport({ support, live }: ViewMessage): boolean {
  const refused = live?.error instanceof ApiError && live.error.isSelfHarm;
  return support || refused || live?.support === true;
}

export const supportTitle = () => t`You don't have to go through this alone`;

/** Where somebody who speaks of suicide or self-harm finds a person to talk to. */
export function SupportCard({ message }: { message: ViewMessage }) {
  const unanswered = (message.status === "blocked" && !message.content) || message.live?.error;
  return (
    <Notice tone="support" title={supportTitle()} className="my-2">
      <div className="flex flex-col gap-2">
        <p>
          {unanswered ? (
            <Trans>
              This is too important to leave to an AI model. Please talk to someone who can be there
              for you. It's free and confidential.
            </Trans>
          ) : (
            <Trans>
              If you're thinking about suicide or hurting yourself, please talk to someone who can
              be there for you. It's free and confidential.
            </Trans>
          )}
        </p>
        <Lines />
        <p>
          <Trans>If you're in immediate danger, call your local emergency number now.</Trans>
        </p>
      </div>
    </Notice>
  );
}

function Lines() {
  const line = helpLine();
  const site = (
    <a
      href={ALL_HELP_LINES}
      target="_blank"
      rel="noopener noreferrer"
      className="text-foreground underline underline-offset-2"
    >
      {new URL(ALL_HELP_LINES).hostname}
    </a>
  );
  return (
    <ul className="flex flex-col gap-1">
      {line && (
        <li>
          <a
            href={`tel:${line.number.replace(/[^\d+*]/g, "")}`}
            className="font-medium text-foreground underline underline-offset-2"
          >
            <bdi>{line.number}</bdi>
          </a>{" "}
          <bdi>{line.name}</bdi>
        </li>
      )}
      <li>
        {line ? <Trans>Other countries: {site}</Trans> : <Trans>Find a help line: {site}</Trans>}
      </li>
    </ul>
  );
}
