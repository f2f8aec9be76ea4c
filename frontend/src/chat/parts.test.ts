import { describe, expect, it } from "vitest";
import type { Part } from "@/api/types";
import { textOfParts, withDelta } from "./parts";

const thought = (text: string) => ({ type: "thought", text }) as const;
const text = (words: string) => ({ type: "text", text: words }) as const;

describe("withDelta", () => {
  it("keeps thought and text apart, and ends the thought with the first word of the answer", () => {
    let parts: Part[] = [];
    parts = withDelta(parts, thought("Seven "), 1000);
    parts = withDelta(parts, thought("times eight."), 2000);
    expect(parts).toEqual([
      { type: "reasoning", text: "Seven times eight.", seconds: null, since: 1000 },
    ]);
    parts = withDelta(parts, text("It is "), 3500);
    parts = withDelta(parts, text("56."), 4000);
    expect(parts.map((part) => part.type)).toEqual(["reasoning", "text"]);
    expect(parts[0]).toMatchObject({ seconds: 2.5 });
    expect(textOfParts(parts)).toBe("It is 56.");
  });

  it("begins a new part for a thought after words, and changes none that it was given", () => {
    const before = Object.freeze([Object.freeze(text("One."))]) as unknown as Part[];
    const after = withDelta(before, thought("Hm."), 0);
    expect(after).toHaveLength(2);
    expect(before).toHaveLength(1);
  });
});
