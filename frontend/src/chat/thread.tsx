/** The messages of a conversation: only those in sight are in the document. */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { ArrowDown } from "lucide-react";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { type CustomItemComponentProps, Virtualizer, type VirtualizerHandle } from "virtua";
import { Button } from "@/ui/button";
import { Spinner } from "@/ui/spinner";
import { useFollowReading } from "@/voice/read-aloud";
import { MessageRow } from "./message-row";
import type { HeldMessage } from "./outbox-store";
import { useStickToEnd } from "./scroll";
import type { ViewMessage } from "./view";
import { WaitingMessages } from "./waiting-messages";
import { callsBefore } from "./web-calls";
import { withheldAbove } from "./withheld-files";

const NOTHING: number[] = [];
const NONE: HeldMessage[] = [];

/** How near to the first loaded message older ones are asked for. */
const LOAD_AHEAD_PX = 1200;

/** About as high as a message is. */
const ROW_PX = 320;

/** A chat of so few messages is rendered with the page, in the slices that React makes of it. */
const FEW = 4;
/** More than any screen holds: the list shows as many at once until it is scrolled. */
const UNSCROLLED = 60;

interface ThreadProps {
  messages: ViewMessage[];
  /** Below them: what the server does not have yet. */
  waiting?: HeldMessage[];
  hasOlder: boolean;
  loadingOlder: boolean;
  /** The last page of older ones could not be read: the reader asks for it again. */
  olderFailed: boolean;
  loadOlder: () => void;
  /** Below the messages, over the whole width. */
  comparison?: { shown: ReactNode; sentAt: string } | null;
  /** Stands below the message that it names. */
  fold?: { after: string; content: ReactNode } | null;
  /** The composer, or what stands in its place. */
  footer: ReactNode;
}

export function Thread(props: ThreadProps) {
  const {
    messages,
    waiting = NONE,
    hasOlder,
    loadingOlder,
    olderFailed,
    loadOlder,
    comparison,
    fold,
    footer,
  } = props;
  const viewport = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const edited = messages.findIndex(({ id }) => id === editing);
  const few = messages.length <= FEW;
  const { atEnd, toEnd } = useStickToEnd(viewport, content, { whole: few });
  const shift = useIsPrepend(messages);
  useFollowReading(messages);
  const sentAt = waiting.at(-1)?.at ?? comparison?.sentAt ?? messages.at(-1)?.live?.sent?.at;

  // Only what this tab sends takes the reader to the end: not another tab, not a branch.
  useLayoutEffect(() => {
    if (sentAt) toEnd();
  }, [toEnd, sentAt]);

  // Also when a page was too short to fill the view. What the list knows of it comes later.
  const maybeLoadOlder = () => {
    const offset = viewport.current?.scrollTop ?? 0;
    if (hasOlder && !loadingOlder && !olderFailed && offset < LOAD_AHEAD_PX) loadOlder();
  };
  useEffect(maybeLoadOlder);

  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <section
        ref={viewport}
        className="scrollbar-quiet min-h-0 flex-1 overflow-y-auto [overflow-anchor:none]"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
        tabIndex={0}
        aria-label={t`Messages`}
      >
        <div ref={content} className="pb-8">
          <div className="mx-auto w-full max-w-3xl px-4 pt-4 md:px-6">
            {loadingOlder && (
              <div className="absolute inset-x-0 top-2 z-10 flex justify-center">
                <Spinner className="text-muted-foreground" />
              </div>
            )}
            {olderFailed && !loadingOlder && (
              <div
                role="alert"
                className="flex items-center justify-center gap-2 pb-3 text-muted-foreground text-sm"
              >
                <Trans>Older messages could not be loaded.</Trans>
                <Button variant="outline" size="sm" onClick={loadOlder}>
                  <Trans>Try again</Trans>
                </Button>
              </div>
            )}
            <Virtualizer
              ref={list}
              scrollRef={viewport}
              shift={shift}
              item={ListItem}
              bufferSize={600}
              // Else dozens are rendered before the first one is measured.
              itemSize={ROW_PX}
              // Later the list renders in one piece what has come in sight.
              ssrCount={few ? UNSCROLLED : 0}
              // Of few it would drop those that it has not measured yet, and render them again.
              keepMounted={few ? [...messages.keys()] : edited === -1 ? NOTHING : [edited]}
              onScroll={maybeLoadOlder}
            >
              {messages.map((message, index) => {
                const row = (
                  <MessageRow
                    key={message.id}
                    message={message}
                    answeredBy={messages[index + 1]?.model ?? null}
                    readFrom={callsBefore(messages, index)}
                    saidAbove={withheldAbove(messages, index)}
                    editing={message.id === editing}
                    setEditing={setEditing}
                  />
                );
                if (fold?.after !== message.id) return row;
                return (
                  <div key={message.id}>
                    {row}
                    {fold.content}
                  </div>
                );
              })}
            </Virtualizer>
            <WaitingMessages messages={waiting} />
          </div>
          {comparison?.shown}
        </div>
      </section>
      {!atEnd && (
        <div className="pointer-events-none relative z-10">
          <button
            type="button"
            onClick={toEnd}
            aria-label={t`Scroll to the newest message`}
            className="pointer-events-auto absolute inset-x-0 -top-12 mx-auto flex size-9 cursor-pointer items-center justify-center rounded-full border border-border bg-popover shadow-md hover:bg-hover"
          >
            <ArrowDown aria-hidden className="size-4.5" />
          </button>
        </div>
      )}
      {footer}
    </div>
  );
}

/** Takes clicks also while the list scrolls: it takes none itself then, nor for a moment after. */
function ListItem({ ref, style, children }: CustomItemComponentProps) {
  return (
    <div ref={ref} style={style} className="pointer-events-auto">
      {children}
    </div>
  );
}

/** True in the render in which older messages come in above the ones that are shown. */
function useIsPrepend(messages: ViewMessage[]): boolean {
  const previous = useRef<string | undefined>(undefined);
  const first = messages[0]?.id;
  const before = previous.current;
  const prepended =
    before !== undefined && before !== first && messages.some((m) => m.id === before);
  useEffect(() => {
    previous.current = first;
  });
  return prepended;
}
