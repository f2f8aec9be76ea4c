/** What the page and the frame that shows artifacts tell each other. */

export type PageMessage =
  /** Show this document by this name. One that is not `whole` yet runs no script. */
  | { type: "show"; title: string; html: string; whole: boolean }
  /** Answered by `alive`: what runs in the frame lets it. */
  | { type: "ask" };

export type FrameMessage = { type: "ready" } | { type: "alive" };

/** The message, if it is one. */
export function asFrameMessage(data: unknown): FrameMessage | null {
  const type = typeof data === "object" && data !== null && "type" in data ? data.type : null;
  return type === "ready" || type === "alive" ? { type } : null;
}
