import { expect, it } from "vitest";

const sources = import.meta.glob<string>("../**/*.{tsx,css}", {
  query: "?raw",
  import: "default",
  eager: true,
});
const EDGE = "m[lr]|p[lr]|scroll-[mp][lr]|left|right|rounded-[lr]|border-[lr]";
// What is centred stands in the middle in both directions: left-1/2 is allowed.
const PHYSICAL = new RegExp(
  `(?<=[\\s"'\`:])(-?(${EDGE})-(?!1/2)[\\d[]|text-(left|right)(?=[\\s"'\`]))`,
);
const PHYSICAL_CSS =
  /^\s*((margin|padding|border)-(left|right)|left|right|text-align: (left|right))/;

it("no class or rule names left or right: start and end hold in both directions", () => {
  expect(Object.keys(sources).length).toBeGreaterThan(100);
  const found = Object.entries(sources).flatMap(([name, source]) => {
    const rule = name.endsWith(".css") ? PHYSICAL_CSS : PHYSICAL;
    const lines = source.split("\n");
    return lines.flatMap((line, at) => (rule.test(line) ? [`${name}:${at + 1} ${line}`] : []));
  });
  expect(found).toEqual([]);
});
