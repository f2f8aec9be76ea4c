import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterAll, afterEach, vi } from "vitest";
import { activate } from "@/lib/locale";
import type { ColourOrder } from "@/markdown/colouring";
import { loadOverlays } from "@/ui/overlays";

await activate("en");
// As in a page that somebody has touched.
await loadOverlays();
configure({ asyncUtilTimeout: 20_000 });
afterEach(cleanup);
// The next file's tests run in the same window.
afterAll(() => void vi.unstubAllGlobals());

// jsdom has no layout, so these are missing; components only ask whether they match or change.
window.matchMedia ??= (query: string) =>
  ({
    matches: false,
    media: query,
    addEventListener: vi.fn(),
    removeEventListener: vi.fn(),
  }) as unknown as MediaQueryList;
window.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
// Nor has it workers: the one that colours code works on the tests' own thread.
window.Worker ??= class extends EventTarget {
  onmessage: ((event: MessageEvent) => void) | null = null;
  async postMessage({ number, ...order }: ColourOrder & { number: number }) {
    const { coloured } = await import("@/markdown/colouring");
    const lines = await coloured(order);
    this.onmessage?.(new MessageEvent("message", { data: { number, lines } }));
  }
  terminate() {}
} as unknown as typeof Worker;
