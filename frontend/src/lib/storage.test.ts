import { beforeEach, describe, expect, it, vi } from "vitest";
import themeScript from "../../public/theme.js?raw";

const MODULES = ["@/lib/theme", "@/chat/chosen-model", "@/app/layout-state"];

describe("a browser that blocks storage", () => {
  beforeEach(() => {
    vi.resetModules();
    vi.spyOn(window, "localStorage", "get").mockImplementation(() => {
      throw new DOMException("blocked", "SecurityError");
    });
  });

  it.each(MODULES)("loads %s", async (name) => {
    await import(name);
  });

  it("keeps choices for as long as the page is open", async () => {
    const { useTheme } = await import("@/lib/theme");
    useTheme.getState().setTheme("dark");
    expect(useTheme.getState().theme).toBe("dark");
    const { useChosenModel } = await import("@/chat/chosen-model");
    useChosenModel.getState().choose("m");
    expect(useChosenModel.getState().chosen).toBe("m");
    const { useLayout } = await import("@/app/layout-state");
    useLayout.getState().toggleSidebar();
    expect(useLayout.getState().sidebarOpen).toBe(false);
  });

  it("gets a theme before the first paint", () => {
    new Function(themeScript)();
    expect(document.documentElement.dataset.theme).toBe("light");
  });
});
