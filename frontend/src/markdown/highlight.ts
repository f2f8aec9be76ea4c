/** Colours for code, found beside the page (colours.ts): until they are there it stands without. */
import { startTransition, useEffect, useRef, useState } from "react";
import type { Line } from "./colouring";
import { linesOf } from "./colours";
import { type Language, languageNamed } from "./language-names";

export type { Line };

export interface Coloured {
  lines: Line[];
  /** What has come since they were coloured. */
  rest: string;
}

interface Wanted {
  code: string;
  language: Language;
  incomplete: boolean;
}

/**
 * `code` as coloured tokens; null until the first are there, and for a language that is not offered.
 * While it grows, one text at a time is coloured, and then the newest.
 */
export function useHighlight(code: string, name: string, incomplete: boolean): Coloured | null {
  const language = languageNamed(name);
  const [found, setFound] = useState<(Wanted & { lines: Line[] }) | null>(null);
  const newest = useRef<Wanted | null>(null);
  const asking = useRef(false);

  useEffect(() => {
    newest.current = language ? { code, language, incomplete } : null;
    const ask = async () => {
      let asked: Wanted | null = null;
      while (newest.current && newest.current !== asked) {
        asked = newest.current;
        const lines = await linesOf(asked);
        const wanted = asked;
        startTransition(() => setFound({ ...wanted, lines }));
      }
    };
    if (asking.current) return;
    asking.current = true;
    ask()
      // Without colours the code stands there as it is.
      .catch(() => undefined)
      .finally(() => {
        asking.current = false;
      });
  }, [code, language, incomplete]);
  useEffect(
    () => () => {
      newest.current = null;
    },
    [],
  );

  if (!found || found.language !== language || !code.startsWith(found.code)) return null;
  return { lines: found.lines, rest: code.slice(found.code.length) };
}
