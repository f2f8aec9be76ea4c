import { type RefObject, useEffect, useState } from "react";

/** Whether what is in the element is wider than it, as both change. */
export function useOverflows(element: RefObject<HTMLElement | null>): boolean {
  const [overflows, setOverflows] = useState(false);
  useEffect(() => {
    const box = element.current;
    if (!box) return;
    const measure = () => setOverflows(box.scrollWidth > box.clientWidth + 1);
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    // It says at once how large they are, when that is known: asking here would lay out the page.
    for (const child of box.children) observer.observe(child);
    return () => observer.disconnect();
  });
  return overflows;
}
