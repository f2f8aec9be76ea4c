import { beforeEach, describe, expect, it, vi } from "vitest";
import themeScript from "../../public/theme.js?raw";

let loaded = 0;

/** `path` as a page loads it that has just been opened. */
const load = (path: string) => import(/* @vite-ignore */ `${path}?loaded=${++loaded}`);

describe("a browser that blocks storage", () => {
  beforeEach(() => {
    vi.spyOn(window, "localStorage", "get").mockImplementation(() => {
      throw new DOMException("blocked", "SecurityError");
    });
  });

  it("keeps choices for as long as the page is open", async () => {
    const { useTheme }: typeof import("@/lib/theme") = await load("/src/lib/theme");
    useTheme.getState().setTheme("dark");
    expect(useTheme.getState().theme).toBe("dark");
    const { useChosenModel }: typeof import("@/chat/chosen-model") =
      await load("/src/chat/chosen-model");
    useChosenModel.getState().choose("m");
    expect(useChosenModel.getState().chosen).toBe("m");
    const { useLayout }: typeof import("@/app/layout-state") = await load("/src/app/layout-state");
    useLayout.getState().toggleSidebar();
    expect(useLayout.getState().sidebarOpen).toBe(false);
  });

  it("gets a theme before the first paint", () => {
    new Function(themeScript)();
    expect(document.documentElement.dataset.theme).toBe("light");
  });
});
