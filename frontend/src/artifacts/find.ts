/**
 * Artifacts: code blocks of an answer that can be looked at as what they describe, and programs that
 * can be run. Pure functions of the text; a later block of the same kind and title in a chat is another version.
 */

export type Kind = "html" | "svg" | "mermaid" | "markdown" | "python";

export interface Block {
  kind: Kind;
  /** Its own, or none. */
  title: string | null;
  code: string;
  /** Its fence has ended. */
  whole: boolean;
}

/** A block and where it stands: `index` counts the artifacts of its message. */
export interface Version extends Block {
  messageId: string;
  index: number;
}

const LANGUAGES: Record<string, Kind> = {
  html: "html",
  htm: "html",
  svg: "svg",
  mermaid: "mermaid",
  markdown: "markdown",
  md: "markdown",
  python: "python",
  python3: "python",
  py: "python",
};

const TITLES: Record<Kind, RegExp[]> = {
  html: [/<title[^<>]*>([^<]+)</i, /<h1[^<>]*>([^<]+)</i],
  svg: [/<title[^<>]*>([^<]+)</i],
  mermaid: [/^[ \t]*accTitle[ \t]*:[ \t]*(\S.*)$/m, /^[ \t]*title(?:[ \t]*:)?[ \t]+(\S.*)$/m],
  markdown: [/^#[ \t]+(\S.*)$/m],
  python: [/^#[ \t]*([\w.-]+\.py)[ \t]*$/m],
};

const FENCE = /^[ \t]*(`{3,}|~{3,})[ \t]*([^\s`]*)/;

/** What a block of this language can be looked at as. */
export function kindOf(language: string, code: string): Kind | null {
  const named = LANGUAGES[language.toLowerCase()];
  if (named) return named;
  return language === "xml" && /^\s*(<\?xml[^>]*>\s*)?<svg\b/.test(code) ? "svg" : null;
}

/** The artifacts of a text, in order; the last one may still be coming. */
export function findBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; indent: number; language: string; lines: string[] } | null = null;
  const end = (whole: boolean) => {
    if (!open) return;
    const code = open.lines.join("\n");
    const kind = kindOf(open.language, code);
    if (kind && code.trim() !== "") blocks.push({ kind, title: titleOf(kind, code), code, whole });
    open = null;
  };
  for (const line of text.split("\n")) {
    const fence = FENCE.exec(line);
    if (open === null) {
      if (fence?.[1]) {
        const indent = line.length - line.trimStart().length;
        open = { fence: fence[1], indent, language: fence[2] ?? "", lines: [] };
      }
    } else if (fence?.[1]?.startsWith(open.fence) && line.trim() === fence[1]) {
      end(true);
    } else {
      open.lines.push(withoutIndent(line, open.indent));
    }
  }
  end(false);
  return blocks;
}

/** `at` among all artifacts of its kind and title in these answers, oldest first. */
export function versionsOf(all: Version[], at: Version): Version[] {
  return all.filter(({ kind, title }) => kind === at.kind && title === at.title);
}

/** The block of `blocks` that shows `code`: the one on its way, where none is the same. */
export function indexOfCode(blocks: Block[], code: string): number {
  const same = blocks.findLastIndex((block) => block.code.trimEnd() === code.trimEnd());
  return same === -1 && blocks.at(-1)?.whole === false ? blocks.length - 1 : same;
}

function titleOf(kind: Kind, code: string): string | null {
  for (const pattern of TITLES[kind]) {
    const title = pattern.exec(code)?.[1]?.trim();
    if (title) return title.slice(0, 120);
  }
  return null;
}

function withoutIndent(line: string, indent: number): string {
  const spaces = line.length - line.trimStart().length;
  return line.slice(Math.min(indent, spaces));
}
