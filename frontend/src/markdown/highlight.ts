/** Colours for code, loaded with the first block that needs them. */
import { useEffect, useState } from "react";
import type { CodeHighlighterPlugin, HighlightToken } from "streamdown";

export type Line = HighlightToken[];

const THEMES: [string, string] = ["github-light-high-contrast", "github-dark"];

let loading: Promise<CodeHighlighterPlugin> | null = null;

function load(): Promise<CodeHighlighterPlugin> {
  loading ??= import("@streamdown/code").then(
    ({ createCodePlugin }) =>
      createCodePlugin({ themes: THEMES as never }) as unknown as CodeHighlighterPlugin,
  );
  // A rejected import stays rejected: the next block asks anew.
  loading.catch(() => {
    loading = null;
  });
  return loading;
}

/**
 * The lines of `code` as coloured tokens; null until the first result is there, and for a
 * language that is not offered. While `incomplete`, results are of the code as of then.
 */
export function useHighlight(code: string, language: string, incomplete: boolean): Line[] | null {
  const [result, setResult] = useState<{ code: string; lines: Line[] } | null>(null);
  useEffect(() => {
    let current = true;
    const show = (plugin: CodeHighlighterPlugin) => {
      if (!current || !plugin.supportsLanguage(language)) return;
      const options = { code, language, themes: THEMES, isIncomplete: incomplete };
      const use = ({ tokens }: { tokens: Line[] }) => {
        if (current) setResult({ code, lines: tokens });
      };
      const ready = plugin.highlight(options, use);
      if (ready) use(ready);
    };
    // Without colours the code stands there as it is.
    load().then(show, () => undefined);
    return () => {
      current = false;
    };
  }, [code, language, incomplete]);
  // A result of a shorter text would hide the newest characters.
  return result?.code === code ? result.lines : null;
}
