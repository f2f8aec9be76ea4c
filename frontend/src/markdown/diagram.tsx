import { t } from "@lingui/core/macro";
import { type CSSProperties, type ReactNode, useEffect, useState } from "react";
import type { Drawing } from "@/diagram-frame/messages";
import { useTheme } from "@/lib/theme";
import { draw, keptDrawing } from "./drawings";
import { BlockHead, HeadButton, Source } from "./source";

type Drawn = { drawing: Drawing } | { failure: string } | null;

interface DiagramProps {
  source: string;
  /** What else stands in its head. */
  children?: ReactNode;
}

/** A Mermaid diagram as an image, its source on demand; the source alone until it is drawn. */
export default function Diagram({ source, children }: DiagramProps) {
  const dark = useIsDark();
  const drawn = useDrawing(source, dark);
  const [showsSource, setShowsSource] = useState(false);
  if (!drawn || "failure" in drawn) {
    return (
      <>
        <Source code={source} language="mermaid">
          {children}
        </Source>
        {drawn && (
          <p role="status" className="text-muted-foreground text-sm">
            {t`This diagram cannot be drawn.`} {drawn.failure}
          </p>
        )}
      </>
    );
  }
  const change = (
    <>
      {children}
      <HeadButton onClick={() => setShowsSource(!showsSource)}>
        {showsSource ? t`Show diagram` : t`Show source`}
      </HeadButton>
    </>
  );
  if (showsSource) {
    return (
      <Source code={source} language="mermaid">
        {change}
      </Source>
    );
  }
  const { svg, width, height } = drawn.drawing;
  return (
    <figure className="code-block">
      <BlockHead label={t({ message: "diagram", context: "the kind of a block" })}>
        {change}
      </BlockHead>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard */}
      <section className="diagram scrollbar-quiet" tabIndex={0} aria-label={t`Diagram`}>
        {/* As an image it runs no script and loads nothing, whatever is in it. */}
        <img
          src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`}
          alt={labelOf(source)}
          width={Math.ceil(width)}
          height={Math.ceil(height)}
          style={{ "--width": `${Math.ceil(width)}px` } as CSSProperties}
        />
      </section>
    </figure>
  );
}

function useDrawing(source: string, dark: boolean): Drawn {
  const [made, setMade] = useState<{ source: string; dark: boolean; drawn: Drawn } | null>(null);
  useEffect(() => {
    let shown = true;
    const set = (drawn: Drawn) => shown && setMade({ source, dark, drawn });
    if (keptDrawing(source, dark)) return;
    draw(source, dark).then(
      (drawing) => set({ drawing }),
      (error: Error) => set({ failure: error.message }),
    );
    return () => {
      shown = false;
    };
  }, [source, dark]);
  const before = keptDrawing(source, dark);
  if (before) return { drawing: before };
  return made?.source === source && made.dark === dark ? made.drawn : null;
}

function useIsDark(): boolean {
  const isDark = () => document.documentElement.dataset.theme === "dark";
  useTheme(); // renders again when it changes
  return isDark();
}

/** The title that its author gave it, else its kind: "Diagram (flowchart)". */
function labelOf(source: string): string {
  const title = /^[ \t]*accTitle[ \t]*:[ \t]*(\S.*)$/m.exec(source)?.[1];
  const drawn = source.replace(/^---[\s\S]*?\n---\n/, "").replace(/%%.*$/gm, "");
  const kind = /^[ \t]*([a-z][\w-]*)/im.exec(drawn)?.[1];
  const name = kind ?? "mermaid";
  return title?.trim() || t`Diagram (${name})`;
}
