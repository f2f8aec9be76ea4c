/**
 * The product's own tools in the reader's language; models read what the server says of them, in
 * English. Of an MCP server's tools its own words are shown: they are untrusted text.
 */
import { t } from "@lingui/core/macro";
import type { ToolServer } from "@/api/types";

type Kind = ToolServer["kind"];

interface Named {
  name: string;
  title: string;
}

/** What people call a tool. */
export function toolTitle(kind: Kind, { name, title }: Named): string {
  return wordsOf(kind, name)?.title ?? (title || name);
}

/** What a tool does, as far as it says so. */
export function toolDescription(kind: Kind, name: string, said: string): string {
  return wordsOf(kind, name)?.description ?? said;
}

/** A server's name, which its managers may have changed. */
export function serverTitle(kind: Kind, name: string): string {
  if (kind === "python" && name === "Python in the browser") return t`Python in the browser`;
  if (isOfWeb(kind) && name === "Web") return t({ message: "Web", context: "the World Wide Web" });
  return name;
}

export const isOfWeb = (kind: Kind): boolean => kind !== "mcp" && kind !== "python";

function wordsOf(kind: Kind, name: string): { title: string; description: string } | null {
  if (kind === "python") {
    return {
      title: "Python",
      description: t`Runs a Python program in the browser of the person who asks, with the files of their chat: the standard library alone, without a network, for 60 s at most.`,
    };
  }
  if (!isOfWeb(kind)) return null;
  if (name === "search") {
    return {
      title: t`Search the web`,
      description: t`Looks for what is recent or not known, and finds pages with their addresses.`,
    };
  }
  if (name !== "fetch") return null;
  return {
    title: t`Read a page`,
    description: t`Reads a page that a search has found, or whose address the person has written.`,
  };
}
