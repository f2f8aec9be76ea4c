import { t } from "@lingui/core/macro";
import { ChevronRight } from "lucide-react";
import { useEffect, useState } from "react";
import { Markdown } from "@/markdown/markdown";
import type { ViewMessage } from "./view";

/** What an answer's model thought: `seconds` is null while it still does. */
export interface Thought {
  text: string;
  seconds: number | null;
}

/** The thought of a message, stored or on its way; null where there is none. */
export function thoughtOf(message: ViewMessage): Thought | null {
  const part = message.parts.find((one) => one.type === "reasoning");
  return part?.type === "reasoning" && part.text ? part : null;
}

/** The thought above its answer: open while it streams, folded from then on. */
export function ThoughtSection({ thought }: { thought: Thought }) {
  const coming = thought.seconds === null;
  const time = inWords(thought.seconds ?? 0);
  const [open, setOpen] = useState(coming);
  useEffect(() => setOpen(coming), [coming]);
  return (
    <details
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="group mb-2 text-muted-foreground text-sm"
    >
      <summary className="inline-flex min-h-8 cursor-pointer list-none items-center gap-1 rounded hover:text-foreground">
        <ChevronRight
          aria-hidden
          className="size-4 transition-transform group-open:rotate-90 rtl:-scale-x-100 rtl:group-open:-rotate-90"
        />
        {coming ? t`Thinking` : t`Thought for ${time}`}
      </summary>
      <div className="border-border border-s-2 ps-3">
        <Markdown text={thought.text} streaming={coming} />
      </div>
    </details>
  );
}

function inWords(whole: number): string {
  const minutes = Math.floor(whole / 60);
  const seconds = whole < 60 ? Math.max(1, Math.round(whole)) : Math.round(whole % 60);
  return minutes === 0 ? t`${seconds} s` : t`${minutes} min ${seconds} s`;
}
