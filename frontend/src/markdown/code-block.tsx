import { lazy, Suspense } from "react";
import { useIsCodeFenceIncomplete } from "streamdown";
import { OpenButton } from "@/artifacts/open-button";
import type { Node } from "./formula-nodes";
import { withSources } from "./formulas";
import { Source } from "./source";

const Diagram = lazy(() => import("./diagram"));

/** A fenced code block; once it is whole, a diagram where its language describes one. */
export function CodeBlock({ node }: { node?: unknown }) {
  const { code, language } = readFence(node as Node | undefined);
  const incomplete = useIsCodeFenceIncomplete();
  const open = <OpenButton code={code} language={language} />;
  const source = (
    <Source code={code} language={language} incomplete={incomplete}>
      {open}
    </Source>
  );
  if (language !== "mermaid" || incomplete || code.trim() === "") return source;
  return (
    <Suspense fallback={source}>
      <Diagram source={code}>{open}</Diagram>
    </Suspense>
  );
}

function readFence(pre: Node | undefined): { code: string; language: string } {
  const code = pre?.children?.find((child) => child.tagName === "code");
  const classes = code?.properties?.className;
  const languageClass = (Array.isArray(classes) ? classes : [classes]).find((name) =>
    String(name).startsWith("language-"),
  );
  return {
    code: withSources(textOf(code)).replace(/\n$/, ""),
    language: languageClass ? String(languageClass).slice("language-".length).toLowerCase() : "",
  };
}

function textOf(node: Node | undefined): string {
  if (!node) return "";
  return node.value ?? (node.children ?? []).map(textOf).join("");
}
