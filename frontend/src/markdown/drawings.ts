/**
 * Asks the frame that draws diagrams (src/diagram-frame). There is one for the page, made for the
 * first diagram and removed when it does not answer; drawings are kept for as long as the page.
 */
import { t } from "@lingui/core/macro";
import { asFrameMessage, type Drawing, type Flaw, MAX_SOURCE } from "@/diagram-frame/messages";
import { formatNumber } from "@/lib/numbers";

const FRAME = "/frames/diagram";
const TIMEOUT_MS = 20_000;
const MAX_KEPT = 50;

interface Waiting {
  request: { id: number; source: string; dark: boolean };
  resolve: (drawing: Drawing) => void;
  reject: (error: Error) => void;
  timer: ReturnType<typeof setTimeout>;
}

const kept = new Map<string, Drawing>();
const waiting = new Map<number, Waiting>();
let frame: HTMLIFrameElement | null = null;
let isReady = false;
let lastId = 0;

const keyOf = (source: string, dark: boolean) => `${dark ? "dark" : "light"} ${source}`;

/** The drawing, where it was made before. */
export const keptDrawing = (source: string, dark: boolean) => kept.get(keyOf(source, dark)) ?? null;

/**
 * Draws a diagram.
 *
 * @throws Error: it is too long, not what Mermaid knows, or took over 20 s.
 */
export async function draw(source: string, dark: boolean): Promise<Drawing> {
  if (source.length > MAX_SOURCE) {
    const most = formatNumber(MAX_SOURCE);
    throw new Error(t`It is longer than ${most} characters.`);
  }
  const drawing = await new Promise<Drawing>((resolve, reject) => {
    lastId += 1;
    const request = { id: lastId, source, dark };
    const timer = setTimeout(giveUp, TIMEOUT_MS);
    waiting.set(request.id, { request, resolve, reject, timer });
    open();
    if (isReady) frame?.contentWindow?.postMessage(request, "*");
  });
  kept.set(keyOf(source, dark), drawing);
  const oldest = kept.keys().next();
  if (kept.size > MAX_KEPT && !oldest.done) kept.delete(oldest.value);
  return drawing;
}

function open(): void {
  if (frame) return;
  frame = document.createElement("iframe");
  frame.src = FRAME;
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = t`Draws diagrams`;
  frame.ariaHidden = "true";
  frame.tabIndex = -1;
  frame.className = "diagram-frame";
  window.addEventListener("message", receive);
  document.body.append(frame);
}

function receive(event: MessageEvent): void {
  if (!frame || event.source !== frame.contentWindow) return;
  const message = asFrameMessage(event.data);
  if (!message) return;
  if (message.type === "ready") {
    isReady = true;
    for (const { request } of waiting.values()) frame.contentWindow?.postMessage(request, "*");
    return;
  }
  const asked = waiting.get(message.id);
  if (!asked) return;
  waiting.delete(message.id);
  clearTimeout(asked.timer);
  if (message.type === "drawn") asked.resolve(message.drawing);
  else asked.reject(new Error(wordsOf(message.reason)));
}

function wordsOf(reason: string): string {
  if (reason === ("empty" satisfies Flaw)) return t`The diagram is empty.`;
  if (reason === ("no_size" satisfies Flaw)) return t`The diagram has no size.`;
  return reason;
}

/** A frame that does not answer answers nobody: the next diagram gets a new one. */
function giveUp(): void {
  window.removeEventListener("message", receive);
  frame?.remove();
  frame = null;
  isReady = false;
  for (const { reject, timer } of waiting.values()) {
    clearTimeout(timer);
    reject(new Error(t`It took too long to draw.`));
  }
  waiting.clear();
}
