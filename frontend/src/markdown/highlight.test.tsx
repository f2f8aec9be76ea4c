import { renderHook, waitFor } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { useHighlight } from "./highlight";

const network = vi.hoisted(() => ({ fails: true }));

vi.mock("@streamdown/code", () => ({
  get createCodePlugin() {
    if (network.fails) throw new TypeError("Failed to fetch dynamically imported module");
    return () => ({
      supportsLanguage: () => true,
      highlight: ({ code }: { code: string }) => ({ tokens: [[{ content: code }]] }),
    });
  },
}));

describe("useHighlight", () => {
  it("loads the highlighter again for the next block when it could not be loaded", async () => {
    const first = renderHook(() => useHighlight("a = 1", "python", false));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(first.result.current).toBeNull();
    network.fails = false;
    const second = renderHook(() => useHighlight("b = 2", "python", false));
    await waitFor(() => expect(second.result.current).not.toBeNull());
  });
});
