/**
 * Text of a model or of another user, as markdown. Untrusted: it never becomes markup.
 *
 * Raw HTML is shown as the text it is, links have only safe protocols and give no opener away,
 * and images are shown as links, so that reading an answer tells nothing to another server.
 */
import { memo } from "react";
import {
  type Components,
  defaultRehypePlugins,
  Streamdown,
  type StreamdownProps,
} from "streamdown";
import { cn } from "@/lib/cn";
import { CodeBlock } from "./code-block";
import { SafeLink } from "./safe-link";

const components: Components = {
  a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
  img: ({ src, alt }) => (
    <SafeLink href={typeof src === "string" ? src : undefined}>{alt || "image"}</SafeLink>
  ),
  inlineCode: ({ children }) => <code className="inline-code">{children}</code>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    <section className="table-scroll" tabIndex={0} aria-label="Table">
      <table>{children}</table>
    </section>
  ),
  thead: "thead",
  tbody: "tbody",
  tr: "tr",
  th: ({ children }) => <th>{children}</th>,
  td: ({ children }) => <td>{children}</td>,
  p: "p",
  ul: ({ children }) => <ul>{children}</ul>,
  ol: ({ children, start }) => <ol start={start}>{children}</ol>,
  li: ({ children }) => <li>{children}</li>,
  h1: "h1",
  h2: "h2",
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
const rehypePlugins = [defaultRehypePlugins.sanitize] as StreamdownProps["rehypePlugins"];

interface MarkdownProps {
  text: string;
  /** More is coming: open constructs are closed for now, and a caret is shown. */
  streaming?: boolean;
  className?: string;
}

export const Markdown = memo(function Markdown({ text, streaming, className }: MarkdownProps) {
  return (
    <div className={cn("answer", className)} data-streaming={streaming || undefined} dir="auto">
      <Streamdown
        mode={streaming ? "streaming" : "static"}
        parseIncompleteMarkdown={streaming ?? false}
        components={components}
        rehypePlugins={rehypePlugins}
        controls={false}
        linkSafety={{ enabled: false }}
        className="space-y-0"
      >
        {text}
      </Streamdown>
    </div>
  );
});
