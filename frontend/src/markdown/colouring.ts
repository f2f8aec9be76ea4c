/** Colours code; in a worker (colour-worker.ts), as compiling a grammar takes as long as many frames. */
import { createCodePlugin } from "@streamdown/code";
import type { CodeHighlighterPlugin, HighlightToken } from "streamdown";
import type { Grammar } from "./grammars";
import type { Language } from "./language-names";
import { take } from "./shiki";

export type Line = HighlightToken[];

export interface ColourOrder {
  code: string;
  language: Language;
  /** More is coming: what follows goes on from what this found. */
  incomplete: boolean;
  /** With the first order of its language. */
  grammar?: Grammar | undefined;
}

const THEMES: [string, string] = ["github-light-high-contrast", "github-dark"];

// Its types name the languages of the package that shiki.ts stands in for.
const plugin = createCodePlugin({ themes: THEMES as never }) as unknown as CodeHighlighterPlugin;

export function coloured({ code, language, incomplete, grammar }: ColourOrder): Promise<Line[]> {
  if (grammar) take(language, grammar);
  return new Promise((resolve) => {
    const options = { code, language, themes: THEMES, isIncomplete: incomplete };
    const use = ({ tokens }: { tokens: Line[] }) => resolve(tokens);
    const known = plugin.highlight(options as never, use);
    if (known) use(known);
  });
}
