import { describe, expect, it } from "vitest";
import { matching, slashQuery } from "./slash-prompts";

const prompts = [
  { label: "Explain an idea", from: "", prompt: "Explain how a rainbow forms." },
  { label: "Check the invoice", from: "Accountant", prompt: "Check the invoice" },
];

describe("a message that begins with a slash", () => {
  it.each([
    ["/", ""],
    ["/inv", "inv"],
    ["a/b", null],
    ["", null],
    ["/etc/hosts is\nwhat?", null],
    [`/${"x".repeat(80)}`, null],
  ])("%j asks for %j", (text, query) => {
    expect(slashQuery(text)).toBe(query);
  });

  it("finds prompts by words of their name, owner or text, in any order", () => {
    expect(matching(prompts, "")).toEqual(prompts);
    expect(matching(prompts, "INV acc")).toEqual([prompts[1]]);
    expect(matching(prompts, "rainbow")).toEqual([prompts[0]]);
    expect(matching(prompts, "etc/hosts")).toEqual([]);
  });
});
