import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { RefreshCw } from "lucide-react";
import { AnswerContext } from "@/artifacts/opened";
import { Markdown } from "@/markdown/markdown";
import { IconButton } from "@/ui/icon-button";
import { ReadAloudButton } from "@/voice/read-aloud";
import { AnswerMenu } from "./answer-menu";
import { AnswerNotice } from "./answer-notice";
import { BranchPicker } from "./branch-picker";
import { CopyButton } from "./copy-button";
import { FeedbackButtons } from "./feedback";
import { MemoriesUsed } from "./memories-used";
import { OutageNote } from "./outage-note";
import { shownText } from "./parts";
import { QueuePlace } from "./queue-place";
import { AnswerSources, SourceList } from "./sources";
import { SupportCard, showsSupport } from "./support-card";
import { ThoughtSection, thoughtOf } from "./thought";
import { useThreadActions } from "./thread-actions";
import { callsOf, ToolCalls } from "./tool-calls";
import type { ViewMessage } from "./view";
import { WebSources } from "./web-sources";
import { WithheldFiles } from "./withheld-files";

interface AssistantMessageProps {
  message: ViewMessage;
  /** Ids of the calls whose results it was written from, with spaces between. */
  readFrom: string;
  /** Ids of files of which an answer above says that they were withheld, with spaces between. */
  saidAbove: string;
}

/** An answer, stored or on its way: markdown over the whole width. */
export function AssistantMessage({ message, readFrom, saidAbove }: AssistantMessageProps) {
  const coming = message.status === "pending" && message.live?.phase !== "failed";
  const thought = thoughtOf(message);
  const calls = callsOf(message.parts);
  const content = shownText(message);
  const stored = !coming && !message.live && calls.length === 0;
  return (
    <article className="flex flex-col py-2" aria-label="Parley" aria-busy={coming}>
      <AnswerSources messageId={message.id} enabled={stored && message.has_documents === true}>
        {showsSupport(message) && <SupportCard message={message} />}
        {thought && <ThoughtSection thought={thought} />}
        {content ? (
          <AnswerContext value={{ messageId: message.id, text: content }}>
            <Markdown text={content} streaming={coming} />
          </AnswerContext>
        ) : (
          coming && !thought && <Thinking generationId={message.live?.generationId ?? null} />
        )}
        {calls.length > 0 && <ToolCalls parts={calls} />}
        <AnswerNotice message={message} />
        {!message.live && <OutageNote message={message} />}
        {!coming && <WithheldFiles message={message} saidAbove={saidAbove} />}
        {!coming && <MemoriesUsed memories={message.memories ?? []} />}
        {calls.length > 0 ? null : coming || message.live ? (
          <div className="-ms-2 mt-1 flex min-h-8 items-center">
            {coming && <ReadAloudButton message={message} />}
          </div>
        ) : (
          <>
            {message.has_documents && <SourceList />}
            {readFrom && content && <WebSources readFrom={readFrom} />}
            <AnswerActions message={message} />
          </>
        )}
      </AnswerSources>
    </article>
  );
}

function Thinking({ generationId }: { generationId: string | null }) {
  return (
    <div role="status" className="flex h-7 items-center gap-3">
      <span aria-hidden className="size-3 animate-pulse rounded-full bg-foreground" />
      <span className="sr-only">
        <Trans>Parley is thinking</Trans>
      </span>
      {generationId && <QueuePlace generationId={generationId} />}
    </div>
  );
}

function AnswerActions({ message }: { message: ViewMessage }) {
  const { regenerate, running } = useThreadActions();
  // The same question would be refused again.
  const refused = message.status === "blocked" && message.content === "";
  return (
    <div className="-ms-2 mt-1 flex min-h-8 items-center">
      {message.content && (
        <>
          <CopyButton text={message.content} label={t`Copy answer`} />
          <ReadAloudButton message={message} />
          <FeedbackButtons message={message} />
        </>
      )}
      {!refused && (
        <IconButton label={t`Regenerate`} disabled={running} onClick={() => regenerate(message)}>
          <RefreshCw className="size-4" />
        </IconButton>
      )}
      <AnswerMenu message={message} />
      <BranchPicker message={message} />
    </div>
  );
}
