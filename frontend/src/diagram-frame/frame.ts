/**
 * Draws diagrams, in a frame that nobody sees: a document of an opaque origin, without network
 * (DIAGRAM_POLICY in backend/api/security.py), because Mermaid reads text that a model has written
 * and needs style in markup, which the page's policy refuses. What it draws goes to the page as
 * text, and is shown there as an image, which runs nothing and loads nothing.
 */
import mermaid, { type MermaidConfig } from "mermaid";
import {
  type Drawing,
  type DrawRequest,
  type Flaw,
  type FrameMessage,
  MAX_SOURCE,
} from "./messages";

const CONFIG: MermaidConfig = {
  startOnLoad: false,
  securityLevel: "strict",
  suppressErrorRendering: true,
  maxTextSize: MAX_SOURCE,
  maxEdges: 400,
  htmlLabels: false,
  flowchart: { htmlLabels: false },
  fontFamily: "system-ui, sans-serif",
  // What no directive in a source may change.
  secure: [
    "secure",
    "securityLevel",
    "startOnLoad",
    "suppressErrorRendering",
    "maxTextSize",
    "maxEdges",
    "htmlLabels",
    "fontFamily",
    "themeCSS",
  ],
};

// The origin is opaque on both sides of a sandbox: only the other window tells who speaks.
const tell = (message: FrameMessage) => window.parent.postMessage(message, "*");
let drawn = Promise.resolve();

window.addEventListener("message", ({ source, data }: MessageEvent<DrawRequest>) => {
  if (source !== window.parent) return;
  drawn = drawn.then(() => answer(data)); // one after the other: Mermaid has one configuration
});
tell({ type: "ready" });

async function answer({ id, source, dark }: DrawRequest): Promise<void> {
  try {
    tell({ type: "drawn", id, drawing: await draw(id, source, dark) });
  } catch (error) {
    tell({ type: "failed", id, reason: error instanceof Error ? error.message : String(error) });
  }
}

const flaw = (name: Flaw) => new Error(name);

async function draw(id: number, source: string, dark: boolean): Promise<Drawing> {
  mermaid.initialize({ ...CONFIG, theme: dark ? "dark" : "default" });
  const { svg } = await mermaid.render(`diagram-${id}`, source);
  const box = document.createElement("div");
  box.innerHTML = svg;
  const root = box.querySelector("svg");
  if (!root) throw flaw("empty");
  const { width, height } = root.viewBox.baseVal ?? { width: 0, height: 0 };
  if (!(width > 0 && height > 0)) throw flaw("no_size");
  root.setAttribute("width", String(width));
  root.setAttribute("height", String(height));
  root.style.removeProperty("max-width");
  return { svg: new XMLSerializer().serializeToString(root), width, height };
}
