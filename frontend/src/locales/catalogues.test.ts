import { getCatalogs } from "@lingui/cli/api";
import { getConfig } from "@lingui/conf";
import { compileMessageOrThrow } from "@lingui/message-utils/compileMessage";
import { describe, expect, it } from "vitest";

/** Text, `#`, or a value: its name, its kind, and the cases of a plural or a select. */
type Token = string | [string, string?, Record<string, Token[]>?];

const config = getConfig();
const [catalog] = await getCatalogs(config);
if (!catalog) throw new Error("lingui.config.ts has no catalogue");
const inSources = (await catalog.collect()) ?? {};
const languages = await Promise.all(
  config.locales.map(async (language) => ({ language, entries: await catalog.read(language) })),
);

it("finds the messages of the page", () => {
  expect(Object.keys(inSources).length).toBeGreaterThan(500);
});

describe.each(languages)("$language", ({ language, entries }) => {
  const pairs = Object.values(entries).map(({ message = "", translation = "" }) => ({
    message,
    translation,
  }));

  it("has the messages of the sources, as after `npm run messages`", () => {
    const added = Object.keys(inSources).filter((id) => !(id in entries));
    const gone = Object.keys(entries).filter((id) => !(id in inSources));
    expect(added.map((id) => inSources[id]?.message)).toEqual([]);
    expect(gone.map((id) => entries[id]?.message)).toEqual([]);
    // Of where a message stands, the build makes in which chunk it is.
    const moved = Object.keys(inSources).filter(
      (id) => filesOf(inSources[id]) !== filesOf(entries[id]),
    );
    expect(moved.map((id) => [entries[id]?.message, filesOf(entries[id])])).toEqual([]);
  });

  it("has a translation of each", () => {
    expect(pairs.filter(({ translation }) => !translation)).toEqual([]);
  });

  it("has the values and the elements of each", () => {
    const others = pairs
      .filter(({ translation }) => translation)
      .map((pair) => ({ ...pair, wanted: insides(pair.message), got: insides(pair.translation) }));
    expect(others.filter(({ wanted, got }) => wanted.join() !== got.join())).toEqual([]);
  });

  it("has a sentence for each number that its grammar tells apart", () => {
    const wanted = categories(language);
    const wrong = pairs.flatMap(({ translation }) =>
      pluralsOf(tokensOf(translation))
        .filter((cases) => wanted.some((category) => !(category in cases)))
        .map((cases) => ({ translation, wanted, got: Object.keys(cases) })),
    );
    expect(wrong).toEqual([]);
  });
});

it("tells messages with other insides apart", () => {
  expect(insides("<0>a</0> {b}")).toEqual(["</0>", "<0>", "{b}"]);
  expect(insides("'{b}'")).toEqual([]);
  expect(insides("{n, plural, one {# <0/>} other {{b} #}}")).toEqual([
    "<0/>",
    "{b}",
    "{n, plural}",
  ]);
  expect(
    pluralsOf(tokensOf("{n, plural, one {a} other {# of {m, plural, other {b}}}}")),
  ).toHaveLength(2);
  expect(categories("ar")).toHaveLength(6);
});

/** Where a message stands. */
const filesOf = (entry: { origin?: [string, ...unknown[]][] } | undefined) =>
  [...new Set(entry?.origin?.map(([file]) => file))].sort().join();

const tokensOf = (message: string) => compileMessageOrThrow(message) as Token[];

/** Which values (with their kinds) and which elements a message has: each once, sorted. */
function insides(message: string): string[] {
  const values = visited(tokensOf(message)).map(([name, kind]) =>
    kind ? `{${name}, ${kind}}` : `{${name}}`,
  );
  return [...new Set([...(message.match(/<\/?\w+\/?>/g) ?? []), ...values])].sort();
}

function pluralsOf(tokens: Token[]): Record<string, Token[]>[] {
  return visited(tokens).flatMap(([, kind, cases]) => (kind === "plural" && cases ? [cases] : []));
}

/** Each value of a message, also of those within the cases of another. */
function visited(tokens: Token[]): Exclude<Token, string>[] {
  return tokens.flatMap((token) => {
    if (typeof token === "string") return [];
    const cases = Object.values(token[2] ?? {}).filter(Array.isArray);
    return [token, ...cases.flatMap(visited)];
  });
}

/** The CLDR's, without that of millions where they are ("un million de chats"). */
function categories(language: string): Intl.LDMLPluralRule[] {
  const all = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  return all.filter((category) => category !== "many" || language === "ar");
}
