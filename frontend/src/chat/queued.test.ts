import { IDBFactory } from "fake-indexeddb";
import { beforeEach, expect, it, vi } from "vitest";

const text = (words: string) => [{ type: "text" as const, text: words }];

let tabs = 0;

/** A tab that begins with what this one's storage holds, as the browser's "Duplicate tab" has it. */
async function newTab(): Promise<typeof import("./queued")> {
  tabs += 1;
  return import(/* @vite-ignore */ `./queued?tab=${tabs}`);
}

beforeEach(() => {
  sessionStorage.clear();
  vi.stubGlobal("indexedDB", new IDBFactory());
});

it("of two copies of a tab one takes a message", async () => {
  const first = await newTab();
  first.queue("c", text("one"));
  const copy = await newTab();
  expect(copy.queue).not.toBe(first.queue);
  const taken = await Promise.all([first.takeQueued("c"), copy.takeQueued("c")]);
  expect(taken.filter((parts) => parts !== null)).toEqual([text("one")]);
});

it("a copy takes what was written in it alone", async () => {
  const first = await newTab();
  first.queue("c", text("one"));
  const copy = await newTab();
  copy.queue("c", text("two"));
  expect(await first.takeQueued("c")).toEqual(text("one"));
  expect(await copy.takeQueued("c")).toEqual(text("two"));
});

it("a reload keeps what waits, and takes it once", async () => {
  const before = await newTab();
  before.queue("c", text("one"));
  before.queue("c", text("two"));
  const after = await newTab();
  expect(await after.takeQueued("c")).toEqual([...text("one"), ...text("two")]);
  expect(await after.takeQueued("c")).toBeNull();
});

it("without IndexedDB a tab takes its messages", async () => {
  vi.stubGlobal("indexedDB", undefined);
  const tab = await newTab();
  tab.queue("c", text("one"));
  expect(await tab.takeQueued("c")).toEqual(text("one"));
});
