/** Keeps the newest text in sight while the reader stays at the end, and only then. */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { nextTask } from "@/lib/next-task";

const NEAR_END_PX = 48;

interface StickOptions {
  /** All of it is in the document: the list has nothing to render when it begins at its end. */
  whole?: boolean;
}

export interface StickToEnd {
  atEnd: boolean;
  toEnd: () => void;
}

/**
 * Tells the listeners of `viewport` of the scroll to where it is in a task of its own: that which begins
 * a chat comes in the frame that lays it out, and what a list does about it would make that frame late.
 */
function tellOfScrollLater(viewport: HTMLElement): void {
  const begun = viewport.scrollTop;
  const hold = (event: Event) => {
    // A reader who was faster is followed at once.
    if (viewport.scrollTop !== begun) return;
    event.stopImmediatePropagation();
    void nextTask().then(() => viewport.dispatchEvent(new Event("scroll")));
  };
  // In this phase it comes before those of the list, whenever they began to listen.
  viewport.addEventListener("scroll", hold, { capture: true, once: true });
}

/**
 * Follows the end of `content` inside the scrolling `viewport`. Scrolling up lets go, coming back
 * to the end (or `toEnd`) holds on again.
 */
export function useStickToEnd(
  viewport: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  { whole = false }: StickOptions = {},
): StickToEnd {
  const [atEnd, setAtEnd] = useState(true);
  const sticking = useRef(true);

  const toEnd = useCallback(() => {
    const element = viewport.current;
    if (!element) return;
    sticking.current = true;
    setAtEnd(true);
    element.scrollTop = element.scrollHeight;
  }, [viewport]);

  const [begunWhole] = useState(whole);
  useLayoutEffect(() => {
    const element = viewport.current;
    const before = element?.scrollTop;
    toEnd();
    if (element && begunWhole && element.scrollTop !== before) tellOfScrollLater(element);
  }, [viewport, toEnd, begunWhole]);

  useEffect(() => {
    const element = viewport.current;
    const inner = content.current;
    if (!element || !inner) return;
    let lastTop = element.scrollTop;
    let lastHeight = element.scrollHeight;

    const onScroll = () => {
      const distance = element.scrollHeight - element.scrollTop - element.clientHeight;
      // Up is the reader, by however little, unless the content's height has changed since: rows
      // that are measured, or older ones that come in above, move the view up too, and of a reader
      // who goes on scrolling the next event tells.
      const up = element.scrollTop < lastTop - 1;
      const unchanged = Math.abs(element.scrollHeight - lastHeight) <= 1;
      if (up && unchanged && distance > 1) sticking.current = false;
      else if (!up && distance <= NEAR_END_PX) sticking.current = true;
      lastTop = element.scrollTop;
      lastHeight = element.scrollHeight;
      setAtEnd(distance <= NEAR_END_PX || sticking.current);
    };
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY < 0 && element.scrollTop > 0) sticking.current = false;
    };
    const onResize = () => {
      if (!sticking.current) return;
      element.scrollTop = element.scrollHeight;
      lastTop = element.scrollTop;
      lastHeight = element.scrollHeight;
    };
    const observer = new ResizeObserver(onResize);
    observer.observe(inner);
    observer.observe(element);
    element.addEventListener("scroll", onScroll, { passive: true });
    element.addEventListener("wheel", onWheel, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", onScroll);
      element.removeEventListener("wheel", onWheel);
    };
  }, [viewport, content]);

  return { atEnd, toEnd };
}
