/**
 * Markdown by a parser that is fetched when a conversation is opened, and not with the first page:
 * it weighs as much as half of the rest. Until it is there its text is shown as it is.
 */
import { type ComponentType, useEffect, useState } from "react";
import { cn } from "@/lib/cn";
import type { MarkdownProps } from "./rendered";

let rendered: ComponentType<MarkdownProps> | null = null;

/** Fetches the parser, once. */
export async function loadMarkdown(): Promise<void> {
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
