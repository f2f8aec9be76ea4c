/**
 * Finds the formulas of a text before its markdown is parsed, and hides them from the parser.
 *
 * A formula is written `\(…\)`, `\[…\]`, `$$…$$` or `$…$`; its underscores, asterisks, bars and line
 * breaks mean nothing to markdown. Each becomes one word of private-use characters that holds its
 * whole source, so that blocks can be parsed, stored and compared alone. `formula-nodes.ts` turns
 * the words back into elements; where no element may stand (code, labels), `withSources` gives the
 * source back. Amounts of money in `$` are no formulas, by the rules of `isMoney`.
 */

export const KINDS = { inline: "\uE002", display: "\uE003", literal: "\uE004" } as const;
export type FormulaKind = keyof typeof KINDS;

const START = "\uE000";
const END = "\uE001";
/** Latin-1, in which all that markdown reads is written, is moved here. */
const SHIFT = 0xe100;
export const HIDDEN = /\uE000([\uE002-\uE004])([^\uE000\uE001]*)\uE001/g;

/** Longer ones are shown as they are written. */
export const MAX_FORMULA = 5_000;
const MAX_DOLLAR_FORMULA = 500;

/** What may be a formula, and what hides its inside from one: code and addresses. */
const PLACES =
  /^(?:[ \t]|>|[-*+] |\d+[.)] )*(?<fence>`{3,}|~{3,})|(?<ticks>`+)|(?:https?:\/\/|www\.)[^\s<>]+|\]\((?:[^()\s]|\([^()\s]*\))*\)|\\[\s\S]|\$/gm;

export interface Formula {
  kind: FormulaKind;
  /** As it was written, with its delimiters. */
  source: string;
}

/**
 * `text` with each formula as one hidden word.
 *
 * @param streaming more is coming: a formula that has begun and not ended stays the text that it
 *   is, whatever markdown would make of it.
 */
export function hideFormulas(text: string, streaming = false): string {
  if (!/[$\\]/.test(text)) return text;
  const places = new RegExp(PLACES);
  let shown = "";
  let at = 0;
  for (let place = places.exec(text); place; place = places.exec(text)) {
    const formula = formulaAt(text, place.index, streaming);
    shown += text.slice(at, place.index);
    at = formula ? place.index + formula.source.length : endOfOther(text, place);
    shown += formula ? hidden(formula) : text.slice(place.index, at);
    places.lastIndex = at;
  }
  return shown + text.slice(at);
}

/** `text` with the source of every formula in the place of its hidden word. */
export function withSources(text: string): string {
  return text.replace(HIDDEN, (_, _kind, letters: string) => unhidden(letters));
}

/** The formula of a match of `HIDDEN`. */
export function formulaOf(kind: string, letters: string): Formula {
  const names = Object.keys(KINDS) as FormulaKind[];
  const name = names.find((one) => KINDS[one] === kind) ?? "literal";
  return { kind: name, source: unhidden(letters) };
}

/** What is between the delimiters, without the marks of a quotation around it. */
export function texOf({ source }: Formula): string {
  const width = source.startsWith("$") && !source.startsWith("$$") ? 1 : 2;
  return source.slice(width, -width).replace(/\n[ \t]*>[ \t]?/g, "\n");
}

function hidden({ kind, source }: Formula): string {
  const letters = source.replace(/[\0-\xff]/g, (one) =>
    String.fromCharCode(SHIFT + one.charCodeAt(0)),
  );
  return START + KINDS[kind] + letters.replace(/[\uE000-\uE004]/g, "\uFFFD") + END;
}

function unhidden(letters: string): string {
  return letters.replace(/[\uE100-\uE1FF]/g, (one) =>
    String.fromCharCode(one.charCodeAt(0) - SHIFT),
  );
}

/** Where the code, the address or the escaped letter ends that a match of `PLACES` begins. */
function endOfOther(text: string, place: RegExpExecArray): number {
  const { fence, ticks } = place.groups ?? {};
  const after = place.index + place[0].length;
  if (fence) return endOfFence(text, place.index, fence);
  if (!ticks) return after;
  const rest = text.slice(after, endOfParagraph(text, after));
  const close = new RegExp(`(?<!\`)${ticks}(?!\`)`).exec(rest);
  return close ? after + close.index + ticks.length : after;
}

function endOfFence(text: string, at: number, fence: string): number {
  const close = new RegExp(`^[ \\t>]*${fence[0]}{${fence.length},}[ \\t]*$`);
  let line = endOfLine(text, at);
  while (line < text.length) {
    const end = endOfLine(text, line + 1);
    if (close.test(text.slice(line + 1, end))) return end;
    line = end;
  }
  return text.length;
}

function formulaAt(text: string, at: number, streaming: boolean): Formula | null {
  const two = text.slice(at, at + 2);
  if (two === "\\(") return delimited(text, at, "\\)", "inline", streaming);
  if (two === "\\[") return delimited(text, at, "\\]", "display", streaming);
  if (two === "$$") return delimited(text, at, "$$", "display", streaming);
  return two[0] === "$" ? inDollars(text, at, streaming) : null;
}

function delimited(
  text: string,
  at: number,
  close: string,
  kind: FormulaKind,
  streaming: boolean,
): Formula | null {
  const limit = endOfParagraph(text, at);
  const end = indexOfUnescaped(text, close, at + 2, limit);
  if (end === -1) {
    const isOpen = streaming && limit === text.length && limit > at + 2;
    return isOpen ? { kind: "literal", source: text.slice(at) } : null;
  }
  const source = text.slice(at, end + 2);
  if (source.slice(2, -2).trim() === "") return null;
  return { kind: source.length > MAX_FORMULA ? "literal" : kind, source };
}

function inDollars(text: string, at: number, streaming: boolean): Formula | null {
  if (/[\p{L}\p{N}$]/u.test(text[at - 1] ?? " ") || /[\s$]/.test(text[at + 1] ?? " ")) return null;
  const limit = Math.min(endOfParagraph(text, at), at + MAX_DOLLAR_FORMULA);
  const end = indexOfUnescaped(text, "$", at + 1, limit);
  if (end === -1) {
    const isOpen = streaming && limit === text.length && /[^\d\n]/.test(text[at + 1] ?? "\n");
    return isOpen && !text.slice(at).includes("\n")
      ? { kind: "literal", source: text.slice(at) }
      : null;
  }
  const inside = text.slice(at + 1, end);
  const closes = !/\s/.test(inside.at(-1) ?? " ") && !/[\p{L}\p{N}$]/u.test(text[end + 1] ?? " ");
  if (!closes || isMoney(inside)) return null;
  return { kind: "inline", source: text.slice(at, end + 1) };
}

/** "20, or 30" of "$20, or 30$": it begins with a number and goes on in words or table cells. */
function isMoney(inside: string): boolean {
  if (!/^\d/.test(inside) || inside.includes("\\")) return false;
  return /(?:^|\s)\p{L}{2,}(?=[\s.,;:!?]|$)|\s\|\s/u.test(inside);
}

/** Where `wanted` begins, not counting places behind an odd number of backslashes; -1 without. */
function indexOfUnescaped(text: string, wanted: string, from: number, limit: number): number {
  for (let at = from; at + wanted.length <= limit; at += 1) {
    if (text.startsWith(wanted, at)) return at;
    if (text[at] === "\\") at += 1;
  }
  return -1;
}

function endOfParagraph(text: string, from: number): number {
  const blank = /\n[ \t]*\n/g;
  blank.lastIndex = from;
  return blank.exec(text)?.index ?? text.length;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}
