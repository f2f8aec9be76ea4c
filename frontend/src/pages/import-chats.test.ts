import { describe, expect, it } from "vitest";
import { chatsIn, importChats, inParts } from "./import-chats";

const chat = (title: string, bytes = 10) => ({ title, text: "x".repeat(bytes) });

describe("importing chats", () => {
  it("finds them in a list and in our own export, and says what is wrong with others", () => {
    expect(chatsIn('[{"a":1}]')).toEqual([{ a: 1 }]);
    expect(chatsIn('{"format":"x","conversations":[1,2]}')).toEqual([1, 2]);
    expect(chatsIn('["a\\u0000b"]')).toEqual(["ab"]);
    expect(() => chatsIn("PK\u0003")).toThrow("no JSON");
    expect(() => chatsIn('{"a":[]}')).toThrow("no conversations");
  });

  it("sends parts that the server takes, and loses none", () => {
    const chats = [
      chat("a", 900_000),
      chat("b", 900_000),
      ...Array.from({ length: 120 }, () => chat("c")),
    ];
    const parts = inParts(chats);
    expect(parts.flat()).toEqual(chats);
    expect(parts.map((part) => part.length)).toEqual([1, 50, 50, 21]);
  });

  it("adds up what became of them, and names what was refused", async () => {
    const seen: number[] = [];
    const end = await importChats(
      [chat("huge", 5_000_000), chat("good"), chat("bad")],
      ({ done }) => seen.push(done),
      () =>
        Promise.resolve({ imported: 1, present: 0, refused: [{ place: 1, reason: "No text." }] }),
    );
    expect(seen).toEqual([1, 3]);
    expect(end).toMatchObject({ total: 3, imported: 1, present: 0 });
    expect(end.refused.map(({ title }) => title)).toEqual(["huge", "bad"]);
  });
});
