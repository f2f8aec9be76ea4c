import { expect, it } from "vitest";
import { textOutside } from "../../scripts/text-outside";

/** What is the same in every language, by file; null: whatever the file has. */
const ALLOWED: Record<string, string[] | null> = {
  "src/lib/locale.ts": null, // languages, each by its own name
  "src/pages/device-name.ts": null, // names of browsers and systems
  "src/pages/quickstart.tsx": ["Say hello."], // a prompt in code
  "src/playground/body.ts": ["None", "True", "False"], // Python
  "src/playground/code.tsx": ["Python", "TypeScript", "curl"],
  "src/python-frame/worker.ts": ['File "…"'], // Python writes it
  "src/api/teams.ts": ["Default"], // compared, not shown
  // Names of other products, and what is written on keys.
  "src/artifacts/python-view.tsx": ["Python"],
  "src/chat/own-tools.ts": ["Python"],
  "src/pages/organization-web.tsx": ["SearXNG", "Brave Search", "Tavily"],
  "src/app/shortcuts.tsx": ["Enter", "Esc"],
};

const sources = import.meta.glob<string>(
  ["../**/*.{ts,tsx}", "!../**/*.test.{ts,tsx}", "!../**/*.gen.ts"],
  { query: "?raw", import: "default", eager: true },
);
const found = Object.entries(sources)
  .flatMap(([path, code]) => textOutside(path.replace("../", "src/"), code))
  .filter(({ text }) => text !== "Parley");

it("has each text of the page in a catalogue, and its dates and numbers in its language", () => {
  const outside = found.filter(({ file, text }) => {
    const allowed = ALLOWED[file];
    return allowed === undefined || (allowed !== null && !allowed.includes(text));
  });
  const lines = outside.map(({ file, line, why, text }) => `${file}:${line} [${why}] ${text}`);
  expect(lines).toEqual([]);
});

it("allows nothing that is not there", () => {
  const needless = Object.entries(ALLOWED).flatMap(([file, texts]) => {
    const there = found.filter((one) => one.file === file).map(({ text }) => text);
    if (texts === null) return there.length > 0 ? [] : [file];
    return texts.filter((text) => !there.includes(text)).map((text) => `${file}: ${text}`);
  });
  expect(needless).toEqual([]);
});

const MACROS = 'import { msg, plural, t } from "@lingui/core/macro";\n';
const OF_JSX = 'import { Plural, Trans } from "@lingui/react/macro";\n';
const why = (code: string) => textOutside("x.tsx", code).map((one) => `${one.why}: ${one.text}`);

it.each([
  ["const X = () => <p>Hello</p>;", ["text: Hello"]],
  ['const X = () => <p>{on ? "yes" : name}</p>;', ["text: yes"]],
  [`const X = () => <p>{\`of \${name}\`}</p>;`, ["text: of …"]],
  [
    'const X = () => <input placeholder="your name" className="Big Red" />;',
    ["attribute: your name"],
  ],
  ['const X = () => <A label={name ?? "none"} value="none" />;', ["attribute: none"]],
  ['const f = () => [{ value: "a", label: "first" }];', ["attribute: first"]],
  ['const f = () => toast("saved");', ["argument: saved"]],
  ['const f = () => new Refusal("It is too big.");', ["sentence: It is too big."]],
  ['const f = () => { throw new Error("No such thing"); };', []],
  ['const f = () => ({ owner: "Owner" });', ["sentence: Owner"]],
  ['const f = () => ({ "API key": 1, title: { label: 2 } });', []],
  ['const f = (key: string) => key === "Enter";', []],
  ["const f = (d: Date) => d.toLocaleDateString();", ["locale: d.toLocaleDateString()"]],
  [
    'const f = (d: Date) => new Intl.DateTimeFormat("en-US");',
    ['locale: new Intl.DateTimeFormat("en-US")'],
  ],
  ["const f = (n: number) => n.toLocaleString(locale());", []],
  ["const format = new Intl.NumberFormat(locale());", ["too early: locale()"]],
  [`${MACROS}const f = () => t\`Hello \${name}\`;`, []],
  [
    `${MACROS}const f = () => t\`Hello \${on ? "World" : name ?? "Some one"}\`;`,
    ["sentence: Some one"],
  ],
  [`${MACROS}const f = (n: number) => plural(n, { one: "One file", other: "# files" });`, []],
  [`${MACROS}const title = t\`Hello\`;`, ["too early: t`Hello`"]],
  [`${MACROS}const title = msg\`You have \${plural(n, { other: "# files" })}\`;`, []],
  [`${OF_JSX}const X = () => <Trans>Hello <b>you</b></Trans>;`, []],
  [`${OF_JSX}const X = () => <Trans>Hello <img alt="a face" /></Trans>;`, ["attribute: a face"]],
  [`${OF_JSX}const X = () => <Plural value={n} one="One file" other="# files" />;`, []],
])("reads %j", (code, expected) => {
  expect(why(code)).toEqual(expected);
});
