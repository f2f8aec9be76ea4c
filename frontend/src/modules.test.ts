import { expect, it } from "vitest";

const tests = import.meta.glob<string>(["./**/*.test.{ts,tsx}", "../admin/**/*.test.{ts,tsx}"], {
  query: "?raw",
  import: "default",
  eager: true,
});
// A module that a test replaces or forgets would be another for the tests of the next file, which
// run in the same worker. What a module exports is spied on instead: `vi.spyOn(module, "name")`,
// with "get" where it is no function; one that has just been loaded is `import("./module?anew")`.
const REPLACES = /\bvi\.(mock|doMock|hoisted|resetModules)\(/;

it("no test replaces a module that others have", () => {
  expect(Object.keys(tests).length).toBeGreaterThan(50);
  const replacing = Object.entries(tests).filter(
    ([name, source]) => name !== "./modules.test.ts" && REPLACES.test(source),
  );
  expect(replacing.map(([name]) => name)).toEqual([]);
});
