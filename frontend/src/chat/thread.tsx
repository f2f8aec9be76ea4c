/** The messages of a conversation: only those in sight are in the document. */
import { ThreadPrimitive, useAuiState } from "@assistant-ui/react";
import { ArrowDown } from "lucide-react";
import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import { Spinner } from "@/ui/spinner";
import { AssistantMessage } from "./assistant-message";
import { useStickToEnd } from "./scroll";
import { EditComposer, UserMessage } from "./user-message";

const rowComponents = { UserMessage, AssistantMessage, UserEditComposer: EditComposer };

/** How near to the first loaded message older ones are asked for. */
const LOAD_AHEAD_PX = 1200;

interface ThreadProps {
  hasOlder: boolean;
  loadingOlder: boolean;
  loadOlder: () => void;
  /** The composer, or what stands in its place. */
  footer: ReactNode;
}

export function Thread(props: ThreadProps) {
  const { hasOlder, loadingOlder, loadOlder, footer } = props;
  const viewport = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const { atEnd, toEnd } = useStickToEnd(viewport, content);
  const ids = useMessageIds();
  const shift = useIsPrepend(ids);
  const lastQuestion = useAuiState(
    (state) => state.thread.messages.findLast((message) => message.role === "user")?.id,
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: these are the moments to jump
  useLayoutEffect(toEnd, [toEnd, lastQuestion]);

  // Also when a page was too short to fill the view.
  const maybeLoadOlder = () => {
    const offset = list.current?.scrollOffset ?? 0;
    if (hasOlder && !loadingOlder && offset < LOAD_AHEAD_PX) loadOlder();
  };
  useEffect(maybeLoadOlder);

  return (
    <ThreadPrimitive.Root className="relative flex min-h-0 flex-1 flex-col">
      <section
        ref={viewport}
        className="scrollbar-quiet min-h-0 flex-1 overflow-y-auto [overflow-anchor:none]"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
        tabIndex={0}
        aria-label="Messages"
      >
        <div ref={content} className="mx-auto w-full max-w-3xl px-4 pt-4 pb-8 md:px-6">
          {loadingOlder && (
            <div className="absolute inset-x-0 top-2 z-10 flex justify-center">
              <Spinner className="text-muted-foreground" />
            </div>
          )}
          <Virtualizer
            ref={list}
            scrollRef={viewport}
            shift={shift}
            bufferSize={600}
            onScroll={maybeLoadOlder}
          >
            {ids.map((id, index) => (
              <ThreadPrimitive.MessageByIndex key={id} index={index} components={rowComponents} />
            ))}
          </Virtualizer>
        </div>
      </section>
      {!atEnd && (
        <div className="pointer-events-none relative z-10">
          <button
            type="button"
            onClick={toEnd}
            aria-label="Scroll to the newest message"
            className="pointer-events-auto absolute -top-12 left-1/2 flex size-9 -translate-x-1/2 cursor-pointer items-center justify-center rounded-full border border-border bg-popover shadow-md hover:bg-hover"
          >
            <ArrowDown aria-hidden className="size-4.5" />
          </button>
        </div>
      )}
      {footer}
    </ThreadPrimitive.Root>
  );
}

/** The ids of the thread's messages; the same array as long as they are the same. */
function useMessageIds(): string[] {
  const messages = useAuiState((state) => state.thread.messages);
  const known = useRef<string[]>([]);
  const same =
    known.current.length === messages.length &&
    messages.every(({ id }, index) => known.current[index] === id);
  if (!same) known.current = messages.map(({ id }) => id);
  return known.current;
}

/** True in the render in which older messages come in above the ones that are shown. */
function useIsPrepend(ids: string[]): boolean {
  const previous = useRef(ids);
  const [first] = previous.current;
  const prepended = first !== undefined && first !== ids[0] && ids.includes(first);
  useEffect(() => {
    previous.current = ids;
  });
  return prepended;
}
