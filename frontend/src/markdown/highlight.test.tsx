import { renderHook, waitFor } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { useHighlight } from "./highlight";

const network = vi.hoisted(() => ({ fails: true }));

vi.mock("./grammars", async (original) => {
  const { grammarOf } = await original<typeof import("./grammars")>();
  return {
    grammarOf: async (language: "python") => {
      if (network.fails) throw new TypeError("Failed to fetch dynamically imported module");
      return grammarOf(language);
    },
  };
});

describe("useHighlight", () => {
  it("loads the grammar again for the next block when it could not be loaded", async () => {
    const first = renderHook(() => useHighlight("a = 1", "python", false));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(first.result.current).toBeNull();
    network.fails = false;
    const second = renderHook(() => useHighlight("b = 2", "python", false));
    await waitFor(() => expect(second.result.current).not.toBeNull());
  });

  it("keeps the colours of what has come while more is coming", async () => {
    network.fails = false;
    const { result, rerender } = renderHook(({ code }) => useHighlight(code, "py", true), {
      initialProps: { code: "a = " },
    });
    await waitFor(() => expect(result.current?.rest).toBe(""));
    rerender({ code: "a = 1" });
    expect(result.current).toMatchObject({ rest: "1" });
    await waitFor(() => expect(result.current?.rest).toBe(""));
    const text = result.current?.lines.flat().map(({ content }) => content);
    expect(text?.join("")).toBe("a = 1");
  });

  it("colours nothing in a language that it does not know", async () => {
    const { result } = renderHook(() => useHighlight("a = 1", "klingon", false));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(result.current).toBeNull();
  });
});
