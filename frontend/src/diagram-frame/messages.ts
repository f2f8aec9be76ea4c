/** What the page and the frame that draws diagrams tell each other. */

/** Longer sources are shown as text. */
export const MAX_SOURCE = 20_000;
export const MAX_SVG = 1_000_000;

export interface DrawRequest {
  id: number;
  source: string;
  dark: boolean;
}

/** An image that stands for itself, in pixels of the page. */
export interface Drawing {
  svg: string;
  width: number;
  height: number;
}

/** What is wrong with what Mermaid has drawn. */
export type Flaw = "empty" | "no_size";

export type FrameMessage =
  | { type: "ready" }
  | { type: "drawn"; id: number; drawing: Drawing }
  /** `reason` is Mermaid's own, or one of `Flaw`: the frame has no words. */
  | { type: "failed"; id: number; reason: string };

/** The message, if it is one: the frame reads untrusted text, and may say anything. */
export function asFrameMessage(data: unknown): FrameMessage | null {
  if (typeof data !== "object" || data === null) return null;
  const message = data as Record<string, unknown>;
  if (message.type === "ready") return { type: "ready" };
  if (typeof message.id !== "number") return null;
  const { id } = message;
  if (message.type === "failed") {
    return { type: "failed", id, reason: String(message.reason).slice(0, 500) };
  }
  const drawing = asDrawing(message.drawing);
  return message.type === "drawn" && drawing ? { type: "drawn", id, drawing } : null;
}

function asDrawing(data: unknown): Drawing | null {
  if (typeof data !== "object" || data === null) return null;
  const { svg, width, height } = data as Record<string, unknown>;
  if (typeof svg !== "string" || svg.length > MAX_SVG) return null;
  return isSize(width) && isSize(height) ? { svg, width, height } : null;
}

const isSize = (value: unknown): value is number =>
  typeof value === "number" && value > 0 && value <= 20_000;
