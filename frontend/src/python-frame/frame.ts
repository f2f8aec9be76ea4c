/**
 * Holds the worker that runs Python. This document has an opaque origin and no network
 * (PYTHON_POLICY in backend/api/security.py), and the worker, begun from a `blob:`, inherits both.
 */
import { asFrameMessage, type FrameMessage, type FrameOrder, type WorkerOrder } from "./messages";

// The origin is opaque on both sides of a sandbox: only the other window tells who speaks.
const tell = (message: FrameMessage) => window.parent.postMessage(message, "*");
type Start = Extract<FrameOrder, { type: "start" }>;

let worker: Worker | null = null;

window.addEventListener("message", ({ source, data }: MessageEvent<FrameOrder>) => {
  if (source !== window.parent) return;
  if (data.type === "run") {
    worker?.postMessage(data);
    return;
  }
  worker?.terminate();
  worker = data.type === "start" ? started(data) : null;
});
tell({ type: "ready" });

function started({ script, wasm, stdlib, snapshot, words }: Start): Worker {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const begun = new Worker(address);
  begun.onmessage = ({ data }) => {
    const message = asFrameMessage(data);
    if (message) tell(message);
  };
  begun.onerror = ({ message }) => tell({ type: "failed", reason: message || words.noWorker });
  const order: WorkerOrder = { type: "load", wasm, stdlib, snapshot, words };
  begun.postMessage(order, [wasm, stdlib, snapshot]);
  return begun;
}
