/**
 * What opens over the page: one file of the build, fetched by the first that opens or by the first
 * sign of somebody at the page, so that it is there before it is asked for.
 */
import { late } from "@/lib/late";

export const dialogs = late(() => import("./dialog-window"));
export const menus = late(() => import("./menu-window"));
export const toasts = late(() => import("./toast-window"));
export const tips = late(() => import("./tooltip-window"));

export function loadOverlays(): Promise<unknown> {
  return Promise.all([dialogs.load(), menus.load(), toasts.load(), tips.load()]);
}

const SIGNS = ["pointermove", "pointerdown", "keydown"] as const;

/** Until the returned call. */
export function loadOverlaysAtFirstSign(): () => void {
  const stop = () => {
    for (const sign of SIGNS) document.removeEventListener(sign, fetch);
  };
  const fetch = () => {
    stop();
    void loadOverlays().catch(() => undefined);
  };
  for (const sign of SIGNS) document.addEventListener(sign, fetch, { passive: true });
  return stop;
}
