/**
 * Stands in for the packages "rehype-raw" and "mdast-util-to-markdown" (vite.config.ts), which
 * streamdown and remark-gfm import and the page never calls: markup of a model is text
 * (rendered.tsx), and nothing is written back as markdown. The first one brings a whole parser of
 * HTML, and both together half as much script as the rest of the markdown.
 */
export default function rehypeRaw(): never {
  throw new Error("Raw HTML is shown as text, and never parsed.");
}

export const defaultHandlers = {};
