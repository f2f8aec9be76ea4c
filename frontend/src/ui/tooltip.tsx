/**
 * Tooltips: one for the whole page, shown for whichever element the pointer or the focus is on, so
 * that a button with one costs no more than a button.
 */
import { cloneElement, type ReactElement } from "react";
import { tips } from "./overlays";

const DELAY_MS = 500;
/** After one was shown the next comes at once. */
const WARM_MS = 400;

interface TipProps {
  label: string;
  hint?: string | undefined;
  children: ReactElement<Record<string, unknown>>;
}

/** A tooltip for one focusable element, which keeps its own accessible name. */
export function Tip({ label, hint, children }: TipProps) {
  begin();
  return cloneElement(children, { "data-tip": label, "data-tip-hint": hint });
}

let begun = false;
let anchor: HTMLElement | null = null;
let shown = false;
let hiddenAt = Number.NEGATIVE_INFINITY;
let timer: ReturnType<typeof setTimeout> | undefined;

function begin(): void {
  if (begun) return;
  begun = true;
  document.addEventListener("pointerover", (event) => {
    const target = event.target as Element;
    // A finger presses: it does not ask.
    if (event.pointerType === "touch" || target.closest("[data-tooltip]")) return;
    const next = target.closest<HTMLElement>("[data-tip]");
    if (next === anchor) return;
    if (next) want(next, shown || Date.now() - hiddenAt < WARM_MS ? 0 : DELAY_MS);
    else hide();
  });
  document.addEventListener("focusin", ({ target }) => {
    const next = (target as Element).closest<HTMLElement>("[data-tip]");
    if (next?.matches(":focus-visible")) want(next, 0);
    else hide();
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("pointerdown", hide);
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
}

function want(next: HTMLElement, delay: number): void {
  hide();
  anchor = next;
  timer = setTimeout(async () => {
    const windows = await tips.load().catch(() => null);
    if (!windows || anchor !== next || !next.isConnected) return;
    shown = true;
    windows.showTip(next, next.dataset.tip ?? "", next.dataset.tipHint);
  }, delay);
}

function hide(): void {
  clearTimeout(timer);
  anchor = null;
  if (!shown) return;
  shown = false;
  hiddenAt = Date.now();
  tips.now()?.hideTip();
}
