import { expect, test } from "vitest";
import { findBlocks, indexOfCode, kindOf, type Version, versionsOf } from "./find";

const fenced = (language: string, code: string, fence = "```") =>
  `${fence}${language}\n${code}\n${fence}`;

test("blocks of the five kinds are found, others are not", () => {
  const text = [
    "Here:",
    fenced("html", "<title>Clock</title><p>12:00</p>"),
    fenced("python", "print(1)"),
    fenced("xml", '<svg viewBox="0 0 1 1"><title>Dot</title></svg>'),
    fenced("xml", "<note/>"),
    fenced("mermaid", "flowchart TD\n  A --> B"),
    fenced("markdown", "# Plan\n\n```js\n1\n```", "````"),
  ].join("\n\n");
  expect(findBlocks(text).map(({ kind, title, whole }) => [kind, title, whole])).toEqual([
    ["html", "Clock", true],
    ["python", null, true],
    ["svg", "Dot", true],
    ["mermaid", null, true],
    ["markdown", "Plan", true],
  ]);
  expect(kindOf("HTML", "")).toBe("html");
});

test("a fence within a list loses its indent, and one that has not ended is not whole", () => {
  const text = "1. A page:\n\n   ```html\n   <p>\n     x\n   ```\n\n```svg\n<svg><circle";
  expect(findBlocks(text)).toEqual([
    { kind: "html", title: null, code: "<p>\n  x", whole: true },
    { kind: "svg", title: null, code: "<svg><circle", whole: false },
  ]);
});

test("what begins at every length of a stream is never more than what came", () => {
  const text = `Text\n\n${fenced("html", "<h1>Hello</h1>\n<script>1</script>")}\nMore`;
  for (let length = 0; length <= text.length; length += 1) {
    for (const block of findBlocks(text.slice(0, length))) {
      expect(text).toContain(block.code.replace(/\n`*$/, ""));
    }
  }
});

test("a block is found by its code, and one on its way by being the last", () => {
  const blocks = findBlocks(
    `${fenced("html", "<p>a")}\n${fenced("svg", "<svg/>")}\n\`\`\`html\n<b`,
  );
  expect(indexOfCode(blocks, "<svg/>")).toBe(1);
  expect(indexOfCode(blocks, "<bo")).toBe(2);
  expect(indexOfCode(blocks.slice(0, 2), "<bo")).toBe(-1);
});

test("versions have the same kind and title", () => {
  const all: Version[] = ["<title>A</title>1", "<title>B</title>", "<title>A</title>2"].flatMap(
    (code, index) =>
      findBlocks(fenced("html", code)).map((block) => ({ ...block, messageId: "m", index })),
  );
  const [first] = all;
  if (!first) throw new Error("No block was found.");
  expect(versionsOf(all, first).map(({ index }) => index)).toEqual([0, 2]);
});
