/**
 * Citations of sources in an answer, `[lease.pdf, page 3]`: a number that opens the place. Which text
 * between square brackets is one is said by whoever knows the answer's sources; all other stays as
 * it is written.
 */
import { t } from "@lingui/core/macro";
import { createContext, useContext } from "react";
import type { Node } from "./formula-nodes";

export interface Citation {
  number: number;
  /** Of the source: its file and place. */
  name: string;
  open: () => void;
}

/** What the text between two brackets cites; null for a text that has no sources. */
export const CitationContext = createContext<((said: string) => Citation[]) | null>(null);

const BRACKETED = /\[([^[\]\n]{1,600})\]/g;

/** A rehype plugin: texts between square brackets as `citation` elements. It runs after the
 * sanitizer, which knows no such element. */
export function citationNodes(): (tree: unknown) => void {
  return (tree) => replaceIn(tree as Node);
}

function replaceIn(parent: Node): void {
  if (!parent.children || parent.tagName === "code" || parent.tagName === "a") return;
  parent.children = parent.children.flatMap((child) => {
    if (child.type === "text") return split(child.value ?? "");
    replaceIn(child);
    return [child];
  });
}

function split(value: string): Node[] {
  const nodes: Node[] = [];
  let from = 0;
  for (const found of value.matchAll(BRACKETED)) {
    if (found.index > from) nodes.push({ type: "text", value: value.slice(from, found.index) });
    from = found.index + found[0].length;
    nodes.push({
      type: "element",
      tagName: "citation",
      properties: { said: found[1] },
      children: [{ type: "text", value: found[0] }],
    });
  }
  if (from < value.length) nodes.push({ type: "text", value: value.slice(from) });
  return nodes;
}

/** Of the plugin's element: the numbers of what is cited, or the text as it was written. */
export function CitationElement(props: Record<string, unknown>) {
  const said = String(props.said ?? "");
  const cited = useContext(CitationContext)?.(said) ?? [];
  if (cited.length === 0) return `[${said}]`;
  return cited.map(({ number, name, open }) => (
    <button
      key={number}
      type="button"
      className="citation"
      title={name}
      aria-label={t`Source ${number}: ${name}`}
      onClick={open}
    >
      {number}
    </button>
  ));
}
