/**
 * Text of a model or of another user, as markdown. Untrusted: it never becomes markup.
 *
 * Raw HTML is shown as the text it is, links have only safe protocols and give no opener away,
 * and images are shown as links, so that reading an answer tells nothing to another server.
 */
import { t } from "@lingui/core/macro";
import { memo, useId } from "react";
import {
  type Components,
  defaultRehypePlugins,
  parseMarkdownIntoBlocks,
  Streamdown,
  type StreamdownProps,
} from "streamdown";
import { cn } from "@/lib/cn";
import { CitationElement, citationNodes } from "./citations";
import { CodeBlock } from "./code-block";
import {
  FootnoteHeading,
  FootnoteItem,
  FootnoteLink,
  FootnotePlace,
  footnoteWords,
  isFootnoteLink,
} from "./footnotes";
import { FormulaElement } from "./formula";
import { formulaNodes } from "./formula-nodes";
import { hideFormulas, withSources } from "./formulas";
import { SafeLink } from "./safe-link";
import { Table } from "./table";

const components: Components = {
  a: (props) =>
    isFootnoteLink(props) ? (
      <FootnoteLink {...props} />
    ) : (
      <SafeLink href={props.href && withSources(props.href)}>{props.children}</SafeLink>
    ),
  img: ({ src, alt }) => (
    <SafeLink href={typeof src === "string" ? withSources(src) : undefined}>
      {withSources(alt || t({ message: "image", context: "the words of a link" }))}
    </SafeLink>
  ),
  citation: CitationElement,
  formula: FormulaElement,
  inlineCode: ({ children }) => (
    <code className="inline-code">
      {typeof children === "string" ? withSources(children) : children}
    </code>
  ),
  table: ({ children }) => <Table>{children}</Table>,
  thead: "thead",
  tbody: "tbody",
  tr: "tr",
  th: ({ children }) => <th>{children}</th>,
  td: ({ children }) => <td>{children}</td>,
  p: "p",
  ul: ({ children }) => <ul>{children}</ul>,
  ol: ({ children, start }) => <ol start={start}>{children}</ol>,
  li: ({ id, children }) => <FootnoteItem id={id}>{children}</FootnoteItem>,
  h1: "h1",
  h2: ({ id, children }) => <FootnoteHeading id={id}>{children}</FootnoteHeading>,
  h3: "h3",
  h4: "h4",
  h5: "h5",
  h6: "h6",
  blockquote: "blockquote",
  hr: () => <hr />,
  strong: "strong",
  pre: CodeBlock,
};

// Without the "raw" plugin, streamdown turns HTML into text before anything can parse it.
const rehypePlugins = [
  defaultRehypePlugins.sanitize,
  formulaNodes,
  citationNodes,
] as StreamdownProps["rehypePlugins"];
// A formula that has not ended stays text (formulas.ts), so that none is closed for now.
const remend = { katex: false };

export interface MarkdownProps {
  text: string;
  /** More is coming: open constructs are closed for now, and a caret is shown. */
  streaming?: boolean;
  className?: string;
}

/** Rendered again only when its text has changed. */
export const Rendered = memo(function Rendered({ text, streaming, className }: MarkdownProps) {
  const source = hideFormulas(text, streaming);
  // As one piece a stored answer would block the page. One with footnotes cannot be divided: there
  // the other mode gives each of its paragraphs a direction of its own.
  const blocks = streaming ? null : parseMarkdownIntoBlocks(source);
  const undivided = blocks !== null && blocks.length < 2;
  return (
    <div className={cn("answer", className)} data-streaming={streaming || undefined}>
      <FootnotePlace value={useId()}>
        <Streamdown
          mode={undivided ? "static" : "streaming"}
          parseMarkdownIntoBlocksFn={(text) =>
            blocks && text === source ? blocks : parseMarkdownIntoBlocks(text)
          }
          parseIncompleteMarkdown={streaming ?? false}
          isAnimating={streaming ?? false}
          components={components}
          rehypePlugins={rehypePlugins}
          remarkRehypeOptions={footnoteWords}
          remend={remend}
          controls={false}
          // Each block by its own first letters: one Arabic word at the top turns no English answer.
          dir="auto"
          linkSafety={{ enabled: false }}
          className="space-y-0"
        >
          {source}
        </Streamdown>
      </FootnotePlace>
    </div>
  );
});
