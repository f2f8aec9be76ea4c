/**
 * Markdown by a parser that is fetched when a conversation is opened, and not with the first page:
 * it weighs as much as half of the rest. Until it is there its text is shown as it is.
 */
import { type ComponentType, useEffect, useState } from "react";
import { cn } from "@/lib/cn";
import { nextTask } from "@/lib/next-task";
import type { MarkdownProps } from "./rendered";

let rendered: ComponentType<MarkdownProps> | null = null;

/** Fetches the parser, once. Its files run one by one: all in one task would block a phone. */
export async function loadMarkdown(): Promise<void> {
  if (rendered) return;
  await import("./parser-file");
  await nextTask();
  await import("./trees-file");
  await nextTask();
  rendered ??= (await import("./rendered")).Rendered;
}

export function Markdown(props: MarkdownProps) {
  const [loaded, setLoaded] = useState(rendered !== null);
  useEffect(() => {
    if (loaded) return;
    let shown = true;
    // Without it the text stays readable, and the next message tries again.
    loadMarkdown().then(
      () => shown && setLoaded(true),
      () => undefined,
    );
    return () => {
      shown = false;
    };
  }, [loaded]);
  const Loaded = rendered;
  if (Loaded) return <Loaded {...props} />;
  return (
    <div className={cn("answer whitespace-pre-wrap", props.className)} dir="auto">
      {props.text}
    </div>
  );
}
