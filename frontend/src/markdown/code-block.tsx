import { Check, Copy } from "lucide-react";
import { type CSSProperties, memo } from "react";
import { useIsCodeFenceIncomplete } from "streamdown";
import { useCopy } from "@/lib/clipboard";
import { type Line, useHighlight } from "./highlight";

/** The parts of a hast node that matter here; structural, so that any version fits. */
interface HastNode {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: HastNode[];
}

/** A fenced code block: its language, a copy button, and the code, coloured when known. */
export function CodeBlock({ node }: { node?: unknown }) {
  const { code, language } = readFence(node as HastNode | undefined);
  const lines = useHighlight(code, language, useIsCodeFenceIncomplete());
  const [copied, copy] = useCopy();
  return (
    <figure className="code-block">
      <figcaption className="flex h-9 items-center justify-between pr-1.5 pl-4 font-sans text-muted-foreground text-xs">
        <span>{language || "text"}</span>
        <button
          type="button"
          onClick={() => void copy(code)}
          className="flex cursor-pointer items-center gap-1.5 rounded-lg px-2 py-1.5 hover:bg-hover hover:text-foreground"
        >
          {copied ? <Check className="size-3.5" /> : <Copy className="size-3.5" />}
          <span aria-live="polite">{copied ? "Copied" : "Copy code"}</span>
        </button>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard */}
      <pre className="scrollbar-quiet" tabIndex={0} dir="ltr">
        <code>{lines ? <Tokens lines={lines} /> : code}</code>
      </pre>
    </figure>
  );
}

const Tokens = memo(function Tokens({ lines }: { lines: Line[] }) {
  return lines.map((line, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a line is its position
    <span key={row}>
      {line.map((token, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a token is its position
        <span key={column} className="token" style={tokenStyle(token)}>
          {token.content}
        </span>
      ))}
      {row < lines.length - 1 && "\n"}
    </span>
  ));
});

function tokenStyle(token: Line[number]): CSSProperties {
  const style = token.htmlStyle ?? {};
  return {
    "--token-light": style.color ?? token.color ?? "inherit",
    "--token-dark": style["--shiki-dark"] ?? style.color ?? "inherit",
  } as CSSProperties;
}

function readFence(pre: HastNode | undefined): { code: string; language: string } {
  const code = pre?.children?.find((child) => child.tagName === "code");
  const classes = code?.properties?.className;
  const languageClass = (Array.isArray(classes) ? classes : [classes]).find((name) =>
    String(name).startsWith("language-"),
  );
  return {
    code: textOf(code).replace(/\n$/, ""),
    language: languageClass ? String(languageClass).slice("language-".length).toLowerCase() : "",
  };
}

function textOf(node: HastNode | undefined): string {
  if (!node) return "";
  return node.value ?? (node.children ?? []).map(textOf).join("");
}
