import { fireEvent, render, waitFor } from "@testing-library/react";
import { useRef } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { useStickToEnd } from "./scroll";

let grow: () => void;
let top = 0;
const sizes = { height: 1000, view: 200 };
const end = () => sizes.height - sizes.view;

function Area({ whole }: { whole?: boolean }) {
  const viewport = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useStickToEnd(viewport, content, { whole });
  return (
    <div ref={viewport} data-testid="viewport">
      <div ref={content} />
    </div>
  );
}

/** The thread with its reader at the end, in a document without layout. */
function area() {
  const { getByTestId } = render(<Area />);
  const viewport = getByTestId("viewport");
  Object.defineProperties(viewport, {
    scrollHeight: { get: () => sizes.height },
    clientHeight: { get: () => sizes.view },
    scrollTop: {
      get: () => top,
      set: (to: number) => {
        top = Math.min(to, end());
      },
    },
  });
  scrollTo(viewport, end());
  return viewport;
}

function scrollTo(viewport: HTMLElement, to: number) {
  top = to;
  fireEvent.scroll(viewport);
}

function token() {
  sizes.height += 20;
  grow();
}

beforeEach(() => {
  top = 0;
  sizes.height = 1000;
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(callback: () => void) {
        grow = callback;
      }
      observe() {}
      disconnect() {}
    },
  );
});

describe("useStickToEnd", () => {
  it("follows the text while the reader is at the end", () => {
    area();
    token();
    expect(top).toBe(end());
  });

  it("stays where the reader has gone up to, however little that is", () => {
    const viewport = area();
    scrollTo(viewport, end() - 10);
    token();
    expect(top).toBe(end() - 20 - 10);
  });

  it("stays at the end when rows are lower than was guessed", () => {
    const viewport = area();
    sizes.height -= 300;
    scrollTo(viewport, end() - 100);
    token();
    expect(top).toBe(end());
  });

  it("stays at the end when rows become higher and the view moves up", () => {
    const viewport = area();
    sizes.height += 900;
    scrollTo(viewport, top - 28);
    token();
    expect(top).toBe(end());
  });

  it("holds on again when the reader comes down near the end", () => {
    const viewport = area();
    scrollTo(viewport, end() - 300);
    scrollTo(viewport, end() - 30);
    token();
    expect(top).toBe(end());
  });
});

describe("a list of which all is there", () => {
  const jsdoms = Object.getOwnPropertyDescriptor(Element.prototype, "scrollTop") ?? {};
  afterEach(() => void Object.defineProperty(Element.prototype, "scrollTop", jsdoms));

  const rendered = () => {
    let scrolled = 0;
    const offset = vi.fn(() => scrolled);
    Object.defineProperty(Element.prototype, "scrollTop", {
      configurable: true,
      get: offset,
      set: (to) => {
        scrolled = to;
      },
    });
    vi.spyOn(Element.prototype, "scrollHeight", "get").mockReturnValue(1000);
    const viewport = render(<Area whole />).getByTestId("viewport");
    expect(offset).toHaveBeenCalled();
    expect(scrolled).toBe(1000);
    const heard = vi.fn();
    viewport.addEventListener("scroll", heard);
    return { viewport, heard };
  };

  it("hears of its first scroll in a task of its own", async () => {
    const { viewport, heard } = rendered();
    fireEvent.scroll(viewport);
    expect(heard).not.toHaveBeenCalled();
    await waitFor(() => expect(heard).toHaveBeenCalledTimes(1));
    fireEvent.scroll(viewport);
    expect(heard).toHaveBeenCalledTimes(2);
  });

  it("hears at once of a reader who scrolls before it", () => {
    const { viewport, heard } = rendered();
    viewport.scrollTop = 400;
    fireEvent.scroll(viewport);
    expect(heard).toHaveBeenCalledTimes(1);
  });
});
