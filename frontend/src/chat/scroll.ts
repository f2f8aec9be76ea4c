/** Keeps the newest text in sight while the reader stays at the end, and only then. */
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

const NEAR_END_PX = 48;

export interface StickToEnd {
  atEnd: boolean;
  toEnd: () => void;
}

/**
 * Follows the end of `content` inside the scrolling `viewport`. Scrolling up lets go, coming back
 * to the end (or `toEnd`) holds on again.
 */
export function useStickToEnd(
  viewport: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
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

  useEffect(() => {
    const element = viewport.current;
    const inner = content.current;
    if (!element || !inner) return;
    let lastTop = element.scrollTop;

    const onScroll = () => {
      const distance = element.scrollHeight - element.scrollTop - element.clientHeight;
      // Content that grows above the view moves scrollTop down, never up: up is the reader, by
      // however little. At the very end it is content that has become shorter.
      const up = element.scrollTop < lastTop - 1;
      if (up && distance > 1) sticking.current = false;
      else if (!up && distance <= NEAR_END_PX) sticking.current = true;
      lastTop = element.scrollTop;
      setAtEnd(distance <= NEAR_END_PX || sticking.current);
    };
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY < 0 && element.scrollTop > 0) sticking.current = false;
    };
    const onResize = () => {
      if (!sticking.current) return;
      element.scrollTop = element.scrollHeight;
      lastTop = element.scrollTop;
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
