/** KaTeX with its style sheet and fonts: loaded with the first formula that is shown. */
import katex from "katex";
import "katex/dist/katex.min.css";

/**
 * A formula as an element, by DOM calls alone: the page's policy allows no style in markup.
 *
 * @throws katex.ParseError: not LaTeX that KaTeX knows, more than 500 expansions of macros, or a
 *   command that needs trust (addresses, classes, ids, styles).
 */
export function typeset(tex: string, display: boolean): HTMLElement {
  const element = document.createElement("span");
  katex.render(tex, element, {
    displayMode: display,
    output: "htmlAndMathml",
    throwOnError: true,
    trust: false,
    strict: "ignore",
    maxExpand: 500,
    maxSize: 30,
    macros: {},
  });
  return element;
}
