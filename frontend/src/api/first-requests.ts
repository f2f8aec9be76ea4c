/**
 * What public/first-requests.js has asked for before the page ran: each answer is handed out once,
 * and only to who opens the page.
 */
declare global {
  interface Window {
    parleyFirst?: Map<string, Promise<Response>>;
  }
}

const CONVERSATION = /^\/api\/conversations\/([^/?]+)\?/;

/** Later it may be another state than the server's. */
const FRESH_MS = 20_000;

/** Of the chat whose messages are on their way already; null: of none. */
export function firstConversation(): string | null {
  const paths = [...(window.parleyFirst?.keys() ?? [])];
  return paths.map((path) => CONVERSATION.exec(path)?.[1]).find(Boolean) ?? null;
}

/** The answer to a GET of `path` that is on its way already; undefined: none is. */
export function takeFirst(path: string): Promise<Response> | undefined {
  const found = window.parleyFirst?.get(path);
  window.parleyFirst?.delete(path);
  return performance.now() < FRESH_MS ? found : undefined;
}
