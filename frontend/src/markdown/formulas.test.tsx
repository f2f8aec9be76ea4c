import { render, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { csvOf, rowsOf } from "./csv";
import { hideFormulas, MAX_FORMULA, withSources } from "./formulas";
import { Rendered } from "./rendered";

/** The formulas of a text as they are found, each in the brackets of its kind. */
const found = (text: string, streaming = false) =>
  hideFormulas(text, streaming).replace(/\uE000[^\uE001]*\uE001/g, (word) => {
    const kind = { "\uE002": "i", "\uE003": "d", "\uE004": "t" }[word[1] ?? ""];
    return `${kind}⟦${withSources(word)}⟧`;
  });

const WHOLE: [text: string, shown: string][] = [
  ["so $x^2$ is", "so i⟦$x^2$⟧ is"],
  ["so \\(a_1 * b_2\\) is", "so i⟦\\(a_1 * b_2\\)⟧ is"],
  ["\\[\nx\n=\ny\n\\]", "d⟦\\[\nx\n=\ny\n\\]⟧"],
  ["$$\n\\frac{1}{2}\n$$", "d⟦$$\n\\frac{1}{2}\n$$⟧"],
  ["| $|x|$ | 2 |", "| i⟦$|x|$⟧ | 2 |"],
  ["($n$), $k$-th", "(i⟦$n$⟧), i⟦$k$⟧-th"],
  ["$\\text{costs \\$5}$", "i⟦$\\text{costs \\$5}$⟧"],
  ["$2 \\text{ or } 3$", "i⟦$2 \\text{ or } 3$⟧"],
];

const NOT_FORMULAS = [
  "It costs $5 and $10.",
  "between $5-$10, or US$5 vs US$6",
  "pay $20, or 30$.",
  "| $5 | 3$ |",
  "$PATH:$HOME and \\$x\\$",
  "`$x$` and ``a ` $y$``",
  "```\n$$x$$\n```",
  "> ```sh\n> echo $A$ \\(b\\)\n> ```",
  "~~~\n\\[x\\]\n```\n$y$",
  "https://example.org/$a$ and [x](/$b$)",
  "\\\\(not this\\\\)",
  "$$ $$ and \\( \\)",
  "a $x\n\ny$ b",
];

describe("formulas", () => {
  it.each(WHOLE)("are found in %j", (text, shown) => {
    expect(found(text)).toBe(shown);
    expect(found(text, true)).toBe(shown);
    expect(withSources(hideFormulas(text))).toBe(text);
  });

  it.each(NOT_FORMULAS)("are not found in %j", (text) => {
    expect(found(text)).toBe(text);
  });

  it("stay text until they end", () => {
    const text = "Thus \\[a_1 *x* + b_2* **c** \\] and on";
    for (let end = 8; end < text.indexOf("\\]") + 2; end += 1) {
      const { container, unmount } = render(<Rendered text={text.slice(0, end)} streaming />);
      expect(container.querySelector("em, strong, .formula, .formula-source")).toBeNull();
      expect(container.textContent).toBe(text.slice(0, end));
      unmount();
    }
    expect(found("It costs $5 and **more", true)).toBe("It costs $5 and **more");
    expect(found("so $a_1 * b", true)).toBe("so t⟦$a_1 * b⟧");
    expect(found("so $a_1 * b")).toBe("so $a_1 * b");
  });

  it("are MathML for screen readers, and glyphs for eyes", async () => {
    const { container } = render(<Rendered text={"Since $x^2$:\n\n\\[\\frac{a}{b}\\]"} />);
    await waitFor(() => expect(container.querySelectorAll("math")).toHaveLength(2));
    expect(container.querySelectorAll(".katex-html[aria-hidden=true]")).toHaveLength(2);
    expect(container.querySelector(".formula[data-kind=display] mfrac")).not.toBeNull();
  });

  it("are shown as written where they cannot be typeset", async () => {
    render(<Rendered text={"$\\frac{1$ and $\\nosuch{x}$"} />);
    await waitFor(() => expect(screen.getByText("$\\nosuch{x}$")).toHaveAttribute("title"));
    expect(screen.getByText("$\\frac{1$").title).toContain("cannot be shown");
    const long = `$$${"x".repeat(MAX_FORMULA)}$$`;
    expect(found(long)).toBe(`t⟦${long}⟧`);
  });

  it.each([
    "\\href{javascript:window.pwned=1}{x}",
    "\\url{javascript:window.pwned=1}",
    "\\includegraphics{https://evil.test/a.png}",
    "\\htmlClass{fixed}{x}",
    "\\htmlId{root}{x}",
    "\\htmlStyle{position:fixed}{x}",
    "\\htmlData{a=b}{x}",
    "\\def\\a{\\a\\a}\\a",
    "\\text{<img src=x onerror=window.pwned=1>}",
  ])("give no power to %j", async (tex) => {
    const { container } = render(<Rendered text={`$$${tex}$$ and $y$`} />);
    await waitFor(() => expect(container.querySelector(".formula")).not.toBeNull());
    expect(container.querySelectorAll("a, img, script, .fixed, #root, [data-a]")).toHaveLength(0);
    expect("pwned" in window).toBe(false);
  });

  it("give their source to tables saved as CSV, and to code", async () => {
    const { container } = render(<Rendered text={"| a |\n|---|\n| is $x^2$ |"} />);
    await waitFor(() => expect(container.querySelector(".formula")).not.toBeNull());
    const table = container.querySelector("table") as HTMLTableElement;
    expect(csvOf(rowsOf(table))).toBe("a\r\nis $x^2$\r\n");
    render(<Rendered text={"- a\n\n      indented $code$ here"} />);
    expect(screen.getByText("indented $code$ here")).toBeInTheDocument();
  });
});

describe("footnotes", () => {
  const TEXT = "One[^1] and two[^b].\n\nMore.\n\n[^1]: The first.\n[^b]: The second.";

  it("lead to their notes and back, with ids of their message", () => {
    const { container } = render(
      <>
        <Rendered text={TEXT} />
        <Rendered text={TEXT} streaming />
      </>,
    );
    const ids = [...container.querySelectorAll("[id]")].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const links = [...container.querySelectorAll<HTMLAnchorElement>("a[href^='#']")];
    expect(links).toHaveLength(8);
    for (const link of links) {
      const target = document.getElementById(link.getAttribute("href")?.slice(1) ?? "");
      expect(target?.closest(".answer")).toBe(link.closest(".answer"));
    }
    const [first] = screen.getAllByRole("link", { name: "Footnote 1" });
    window.HTMLElement.prototype.scrollIntoView = () => undefined;
    first?.click();
    expect(document.activeElement).toHaveTextContent("The first.");
    expect(screen.getAllByRole("link", { name: "Back to reference 2" })).toHaveLength(2);
    expect(location.hash).toBe("");
  });
});
