/**
 * Shows an artifact: what a model has written, with its scripts. This document has an opaque origin
 * and no network (ARTIFACT_POLICY in backend/api/security.py); the artifact stands in a frame within
 * it, which inherits the policy, has an opaque origin of its own, and speaks to nobody: what the
 * page hears comes from here. Another state of it is laid out behind the one in sight, and takes
 * its place when it is there, so that nothing flickers while it is written.
 */
import type { FrameMessage, PageMessage } from "./messages";

// The origin is opaque on both sides of a sandbox: only the other window tells who speaks.
const tell = (message: FrameMessage) => window.parent.postMessage(message, "*");
/**
 * Runs before the artifact's own scripts. No policy of today's browsers keeps a document from
 * opening peer connections; without the constructors it has to nest a frame to get at one.
 */
const WITHOUT_PEERS =
  "<script>for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection'])" +
  " delete window[name]; document.currentScript.remove();</script>";
let shown: HTMLIFrameElement | null = null;
let coming: HTMLIFrameElement | null = null;

window.addEventListener("message", ({ source, data }: MessageEvent<PageMessage>) => {
  if (source !== window.parent) return;
  if (data.type === "ask") tell({ type: "alive" });
  else show(data);
});
tell({ type: "ready" });

function show({ title, html, whole }: Extract<PageMessage, { type: "show" }>): void {
  coming?.remove();
  const next = document.createElement("iframe");
  next.title = title;
  next.setAttribute("sandbox", whole ? "allow-scripts" : "");
  next.style.visibility = shown ? "hidden" : "visible";
  next.onload = () => {
    // Loaded once: where it leads itself later shows nothing new.
    next.onload = null;
    next.style.visibility = "visible";
    shown?.remove();
    shown = next;
    coming = null;
  };
  coming = next;
  next.srcdoc = whole ? WITHOUT_PEERS + html : html;
  document.body.append(next);
}
