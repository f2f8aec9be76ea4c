/** The answers of a comparison: columns, which one swipes through where there is little room. */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Square } from "lucide-react";
import type { ReactNode } from "react";
import { getSentPrompt } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { Model } from "@/api/types";
import { useCountdown } from "@/lib/countdown";
import { formatCountdown } from "@/lib/time";
import { Markdown } from "@/markdown/markdown";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Spinner } from "@/ui/spinner";
import { toast } from "@/ui/toast";
import { describeFailure } from "./answer-notice";
import { askAgain, closeComparison, goOnWith, stopColumn } from "./compare";
import { type Column, type Comparison, isComparing } from "./comparison";
import { CopyButton } from "./copy-button";
import { ThoughtSection, thoughtOf } from "./thought";
import { answerOf } from "./view";

const warn = (error: unknown) => toast(errorMessage(error));

interface SideBySideProps {
  conversationId: string;
  comparison: Comparison;
  models: Model[];
}

export function SideBySide({ conversationId, comparison, models }: SideBySideProps) {
  const client = useQueryClient();
  const { columns } = comparison;
  const hopeless = !isComparing(comparison) && !columns.some(canGoOn);
  return (
    <section
      aria-label={t`Answers side by side`}
      className="mx-auto flex w-full max-w-7xl snap-x snap-mandatory scroll-px-4 gap-3 overflow-x-auto px-4 pb-2 md:px-6 lg:snap-none"
    >
      {columns.map((column, index) => (
        <Answer
          // biome-ignore lint/suspicious/noArrayIndexKey: a column stays at its place
          key={index}
          column={column}
          name={models.find(({ id }) => id === column.live.model)?.name ?? column.live.model}
          stop={() => void stopColumn(conversationId, index).catch(warn)}
          askAgain={() => void askAgain(conversationId, index).catch(warn)}
          goOn={() => void goOnWith(client, conversationId, index).catch(warn)}
        />
      ))}
      {hopeless && (
        <Button
          variant="outline"
          className="self-start"
          onClick={() => void closeComparison(client, conversationId).catch(warn)}
        >
          <Trans>Dismiss</Trans>
        </Button>
      )}
    </section>
  );
}

const canGoOn = ({ ended, live }: Column): boolean =>
  ended && live.phase !== "failed" && live.messageId !== null;

interface AnswerProps {
  column: Column;
  name: string;
  stop: () => void;
  askAgain: () => void;
  goOn: () => void;
}

function Answer({ column, name, stop, askAgain, goOn }: AnswerProps) {
  const { live, ended, stopped } = column;
  const message = answerOf(live);
  const thought = thoughtOf(message);
  return (
    <article
      aria-label={name}
      aria-busy={!ended}
      className="flex w-[85%] shrink-0 snap-center flex-col rounded-2xl border border-border px-4 py-3 md:w-96 lg:w-auto lg:min-w-64 lg:flex-1 lg:shrink"
    >
      <header className="flex min-h-9 items-center justify-between gap-2 pb-1">
        <h2 className="min-w-0 truncate font-medium text-sm">{name}</h2>
        {ended ? (
          message.content && <CopyButton text={message.content} label={t`Copy answer`} />
        ) : (
          <Button
            variant="ghost"
            size="sm"
            aria-label={t`Stop ${name}`}
            disabled={stopped}
            onClick={stop}
          >
            <Square aria-hidden className="size-3 fill-current" />
            <Trans context="verb">Stop</Trans>
          </Button>
        )}
      </header>
      {thought && <ThoughtSection thought={thought} />}
      {message.content ? (
        <Markdown text={message.content} streaming={!ended} />
      ) : (
        !ended && !thought && <Spinner className="text-muted-foreground" />
      )}
      {live.phase === "failed" && <Failed column={column} askAgain={askAgain} />}
      {live.phase === "reconnecting" && (
        <Quiet>
          <Trans>Reconnecting…</Trans>
        </Quiet>
      )}
      {ended && stopped && live.phase !== "failed" && (
        <Quiet>
          <Trans>You stopped this answer.</Trans>
        </Quiet>
      )}
      {canGoOn(column) && (
        <div className="mt-auto flex flex-col items-start gap-2 pt-3">
          {live.messageId && <Spent messageId={live.messageId} />}
          <Button size="sm" onClick={goOn}>
            <Trans>Continue with this answer</Trans>
          </Button>
        </div>
      )}
    </article>
  );
}

function Quiet({ children }: { children: ReactNode }) {
  return (
    <p role="status" className="mt-2 text-muted-foreground text-sm">
      {children}
    </p>
  );
}

function Failed({ column, askAgain }: { column: Column; askAgain: () => void }) {
  const left = useCountdown(column.live.retryAt);
  const wait = formatCountdown(left);
  const { tone, title, text } = describeFailure(column.live);
  return (
    <Notice
      tone={tone}
      title={title}
      actions={
        <Button variant="outline" size="sm" onClick={askAgain} disabled={left > 0 || !column.ended}>
          {left > 0 ? t`Try again in ${wait}` : t`Try again`}
        </Button>
      }
      className="mt-1"
    >
      {text}
    </Notice>
  );
}

/** What an answer read and wrote, and what that costs, where it has a price. */
function Spent({ messageId }: { messageId: string }) {
  const { data } = useQuery({
    queryKey: ["sent", messageId],
    queryFn: () => getSentPrompt(messageId),
  });
  if (!data) return null;
  const { input_tokens: read, output_tokens: written } = data;
  return (
    <p className="text-muted-foreground text-xs">
      {[
        t`${read} tokens read, ${written} written`,
        ...(data.cost === null ? [] : [`${data.cost} ${data.currency}`]),
      ].join(" · ")}
    </p>
  );
}
