/**
 * What public/first-requests.js has asked for before the page ran: each answer is handed out once,
 * and only to who opens the page.
 */
declare global {
  interface Window {
    parleyFirst?: Map<string, Promise<Response>>;
  }
}

/** Later it may be another state than the server's. */
const FRESH_MS = 20_000;

/** The answer to a GET of `path` that is on its way already; undefined: none is. */
export function takeFirst(path: string): Promise<Response> | undefined {
  const found = window.parleyFirst?.get(path);
  window.parleyFirst?.delete(path);
  return performance.now() < FRESH_MS ? found : undefined;
}
