import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Check, Copy, WrapText } from "lucide-react";
import { type CSSProperties, memo, type ReactNode, useRef, useState } from "react";
import { useCopy } from "@/lib/clipboard";
import { useOverflows } from "@/lib/overflow";
import { type Line, useHighlight } from "./highlight";

interface SourceProps {
  code: string;
  language: string;
  incomplete?: boolean;
  /** What else stands in its head, before the buttons. */
  children?: ReactNode;
}

/** Code with its language, a copy button and colours when known; long lines scroll or wrap. */
export function Source({ code, language, incomplete = false, children }: SourceProps) {
  const coloured = useHighlight(code, language, incomplete);
  const [copied, copy] = useCopy();
  const [wraps, setWraps] = useState(false);
  const area = useRef<HTMLPreElement>(null);
  const overflows = useOverflows(area);
  return (
    <figure className="code-block">
      <BlockHead label={language || t({ message: "text", context: "the kind of a block" })}>
        {children}
        {(overflows || wraps) && (
          <HeadButton pressed={wraps} onClick={() => setWraps(!wraps)}>
            <WrapText aria-hidden className="size-3.5" />
            <Trans>Wrap lines</Trans>
          </HeadButton>
        )}
        <HeadButton onClick={() => void copy(code)}>
          {copied ? <Check className="size-3.5" /> : <Copy className="size-3.5" />}
          <span aria-live="polite">{copied ? t`Copied` : t`Copy code`}</span>
        </HeadButton>
      </BlockHead>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard */}
      <pre ref={area} className="scrollbar-quiet" tabIndex={0} dir="ltr" data-wraps={wraps}>
        <code>
          {coloured ? <Tokens lines={coloured.lines} /> : code}
          {coloured?.rest}
        </code>
      </pre>
    </figure>
  );
}

/** The line above code and diagrams. */
export function BlockHead({ label, children }: { label: string; children: ReactNode }) {
  return (
    <figcaption className="flex min-h-9 items-center justify-between gap-2 pe-1.5 ps-4 font-sans text-muted-foreground text-xs">
      <span className="truncate">{label}</span>
      <span className="flex shrink-0 items-center">{children}</span>
    </figcaption>
  );
}

interface HeadButtonProps {
  pressed?: boolean;
  onClick: () => void;
  children: ReactNode;
}

export function HeadButton({ pressed, onClick, children }: HeadButtonProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      aria-pressed={pressed}
      className="flex cursor-pointer items-center gap-1.5 rounded-lg px-2 py-1.5 hover:bg-hover hover:text-foreground aria-pressed:text-foreground"
    >
      {children}
    </button>
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
