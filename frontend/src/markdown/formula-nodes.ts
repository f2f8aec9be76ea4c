/** A rehype plugin: the hidden words of formulas.ts as `formula` elements. It runs after the
 * sanitizer, which knows no such element. */
import { formulaOf, HIDDEN } from "./formulas";

/** The parts of a hast node that matter here; structural, so that any version fits. */
export interface Node {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

export function formulaNodes(): (tree: unknown) => void {
  return (tree) => replaceIn(tree as Node);
}

function replaceIn(parent: Node): void {
  if (!parent.children || parent.tagName === "code") return;
  parent.children = parent.children.flatMap((child) => {
    if (child.type !== "text") {
      replaceIn(child);
      return [child];
    }
    return split(child.value ?? "");
  });
}

function split(text: string): Node[] {
  const nodes: Node[] = [];
  let from = 0;
  const addText = (value: string) => value && nodes.push({ type: "text", value });
  for (const found of text.matchAll(HIDDEN)) {
    addText(text.slice(from, found.index));
    from = found.index + found[0].length;
    const formula = formulaOf(found[1] ?? "", found[2] ?? "");
    nodes.push({
      type: "element",
      tagName: "formula",
      properties: { ...formula },
      children: [],
    });
  }
  addText(text.slice(from));
  return nodes;
}
