/** What nobody waits for, when the browser has nothing else to do. */

const LATEST_MS = 2000;

/**
 * @param work is begun within two seconds, however busy the page is.
 * @returns what takes it back.
 */
export function whenIdle(work: () => void): () => void {
  // Safari has none.
  if (!globalThis.requestIdleCallback) {
    const timer = setTimeout(work);
    return () => clearTimeout(timer);
  }
  const asked = requestIdleCallback(work, { timeout: LATEST_MS });
  return () => cancelIdleCallback(asked);
}
