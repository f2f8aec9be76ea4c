import { renderHook, waitFor } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import * as grammars from "./grammars";
import { useHighlight } from "./highlight";

describe("useHighlight", () => {
  it("loads the grammar again for the next block when it could not be loaded", async () => {
    // Of no other test: what a grammar was fetched for is kept.
    const failed = new TypeError("Failed to fetch dynamically imported module");
    const network = vi.spyOn(grammars, "grammarOf").mockRejectedValue(failed);
    const first = renderHook(() => useHighlight("a = 1", "lua", false));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(first.result.current).toBeNull();
    expect(network).toHaveBeenCalledOnce();
    network.mockRestore();
    const second = renderHook(() => useHighlight("b = 2", "lua", false));
    await waitFor(() => expect(second.result.current).not.toBeNull());
  });

  it("keeps the colours of what has come while more is coming", async () => {
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
