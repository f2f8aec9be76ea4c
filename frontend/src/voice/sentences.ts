/** A markdown text as what is read aloud of it, a sentence at a time. */
import { t } from "@lingui/core/macro";

/** What is said of markdown: words without marks; code and tables are named, not read. */
export function spokenText(markdown: string): string {
  const code = t({ message: "Code.", context: "read aloud for a block of code" });
  const link = t({ message: "link", context: "read aloud for an address" });
  return markdown
    .replace(/```[\s\S]*?(?:```|$)/g, () => `\n${code}\n`)
    .replace(/^[ \t]*\|.*\|[ \t]*$/gm, "")
    .replace(/!\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/https?:\/\/\S+/g, () => link)
    .replace(/^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+/gm, "")
    .replace(/^[ \t]*\d+\.[ \t]+/gm, "")
    .replace(/(\*\*|__|\*|`|~~)/g, "");
}

const END = /[.!?…。！？]["')\]”’]*\s+|\n+/g;

/**
 * The sentences that are whole. While the text still grows its last one is held back, and nothing
 * of an open code block is given.
 */
export function sentencesOf(markdown: string, done: boolean): string[] {
  const open = done ? -1 : openFence(markdown);
  const text = spokenText(open === -1 ? markdown : markdown.slice(0, open));
  const found: string[] = [];
  let from = 0;
  for (const match of text.matchAll(END)) {
    const end = (match.index ?? 0) + match[0].length;
    found.push(text.slice(from, end).trim());
    from = end;
  }
  if (done) found.push(text.slice(from).trim());
  return found.filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

/** Where a code block begins that has not ended; -1 where there is none. */
function openFence(markdown: string): number {
  const fences = [...markdown.matchAll(/```/g)];
  return fences.length % 2 ? (fences.at(-1)?.index ?? -1) : -1;
}
