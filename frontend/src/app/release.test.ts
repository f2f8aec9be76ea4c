import { beforeEach, expect, it, vi } from "vitest";
import { reloadForNewRelease } from "./release";

beforeEach(() => sessionStorage.clear());

it("reloads once when a page's code is gone, and then lets the error be shown", () => {
  const reload = vi.fn();
  reloadForNewRelease(reload);
  const fails = () => {
    const event = new Event("vite:preloadError", { cancelable: true });
    window.dispatchEvent(event);
    return event.defaultPrevented;
  };
  expect(fails()).toBe(true);
  expect(reload).toHaveBeenCalledTimes(1);
  expect(fails()).toBe(false);
  expect(reload).toHaveBeenCalledTimes(1);
});
