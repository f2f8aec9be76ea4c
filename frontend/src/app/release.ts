/** What an old tab does when a new release is there. */
import { readTabStored, writeTabStored } from "@/lib/storage";

const KEY = "parley.reloaded";

/** So soon after a reload another one would not help. */
const AGAIN_MS = 60_000;

/**
 * A page's code that can't be loaded is usually an older release's, which the server no longer
 * has: the tab takes the new one. Drafts outlive it. Source: vite.dev, "Load Error Handling".
 */
export function reloadForNewRelease(reload = () => window.location.reload()): void {
  window.addEventListener("vite:preloadError", (event) => {
    const now = Date.now();
    if (now - Number(readTabStored(KEY) ?? 0) < AGAIN_MS) return;
    writeTabStored(KEY, String(now));
    // Without a memory of it the tab would reload for ever.
    if (readTabStored(KEY) !== String(now)) return;
    event.preventDefault();
    reload();
  });
}
