/** Every regular expression of the page takes time in proportion to its text. */
import ts from "typescript";
import { describe, expect, test } from "vitest";

const SOURCES = import.meta.glob<string>(["../**/*.ts", "../**/*.tsx", "!../**/*.test.*"], {
  query: "?raw",
  import: "default",
  eager: true,
});
const LENGTH = 100_000;
/** Of a text so long a linear expression takes some milliseconds, a quadratic one half a second and more. */
const BUDGET_MS = 250;
const COMMON = [
  "a",
  "0",
  " ",
  "\n",
  "\t",
  "-",
  ".",
  "[",
  "(",
  "<",
  "|",
  "#",
  "`",
  '"',
  "*",
  "](",
  "![",
  "a\n",
  " \n",
];
const ENDS = ["", "\0"];

function literals(): [string, string][] {
  const found: [string, string][] = [];
  for (const [name, text] of Object.entries(SOURCES)) {
    const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) found.push([name, node.text]);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

function expressionOf(literal: string): RegExp {
  const end = literal.lastIndexOf("/");
  const flags = literal.slice(end + 1);
  return new RegExp(literal.slice(1, end), flags.includes("g") ? flags : `${flags}g`);
}

/** The words that stand in the expression itself. */
function wordsOf(literal: string): string[] {
  const body = literal.slice(1, literal.lastIndexOf("/"));
  const words =
    body
      .replace(/\\[a-zA-Z]/g, " ")
      .replaceAll("\\", "")
      .match(/[^\s()|^$+*?{}.[\]]{2,}/g) ?? [];
  return words.flatMap((word) => [word, `${word} `, `${word}a\n`]);
}

function milliseconds(expression: RegExp, text: string): number {
  const begun = performance.now();
  text.replace(expression, "");
  return performance.now() - begun;
}

/** Whether it takes too long, not for once. */
function isSlow(expression: RegExp, text: string): boolean {
  return [0, 1, 2].every(() => milliseconds(expression, text) > BUDGET_MS);
}

/** The first text for which it takes too long; shorter ones first, as a long one might never end. */
function worst(literal: string): string | null {
  const expression = expressionOf(literal);
  const words = wordsOf(literal);
  for (const length of [1_000, LENGTH]) {
    for (const pump of [...COMMON, ...words]) {
      for (const before of ["", ...words]) {
        const text = before + pump.repeat(length / pump.length);
        if (ENDS.some((end) => isSlow(expression, text + end))) return `${before}${pump}…`;
      }
    }
  }
  return null;
}

describe("every regular expression is linear", () => {
  test.each(literals())("%s %s", (_, literal) => {
    expect(worst(literal)).toBeNull();
  });
});

test.each(["/^\\s*title/m", "/<title[^>]*>/", "/-+$/"])("%s is found not to be", (literal) => {
  expect(worst(literal)).not.toBeNull();
});
