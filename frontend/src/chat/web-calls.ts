/** What calls of the web tools say to people. Queries, titles and addresses are untrusted text. */
import { t } from "@lingui/core/macro";
import type { ToolCall } from "@/api/types";
import { isResultsOnly } from "./parts";
import type { ViewMessage } from "./view";

export interface WebSource {
  title: string;
  url: string;
  host: string;
}

/** A call in words; null for one that is not of the web. */
export function webTitle({ web, status, arguments: written }: ToolCall): string | null {
  if (!web) return null;
  const { query, url } = given(written);
  const runs = status === "due" || status === "running";
  if (web === "search") {
    if (runs) return query ? t`Searching the web for “${query}”` : t`Searching the web`;
    if (status === "done") return query ? t`Searched the web for “${query}”` : t`Searched the web`;
    return query ? t`Search the web for “${query}”` : t`Search the web`;
  }
  const host = url && webAddress(url)?.hostname;
  if (runs) return host ? t`Reading ${host}` : t`Reading a page`;
  return host ? t`Read ${host}` : t`Read a page`;
}

/**
 * The pages that `calls` have read and found, each once, those that were read first. A page is
 * linked to by http and https alone.
 */
export function webSources(calls: ToolCall[]): WebSource[] {
  const inOrder = [...calls].sort((a, b) => rank(a) - rank(b));
  const byUrl = new Map<string, WebSource>();
  for (const { title, url } of inOrder.flatMap(({ sources }) => sources)) {
    const address = webAddress(url);
    if (!address || byUrl.has(address.href)) continue;
    const { href, hostname } = address;
    byUrl.set(href, { title: title.trim() || hostname, url: href, host: hostname });
  }
  return [...byUrl.values()];
}

/**
 * Ids of the calls whose results the answer at `index` was written from, back to its prompt. One
 * text, which is equal where nothing has changed.
 */
export function callsBefore(messages: ViewMessage[], index: number): string {
  const ids: string[] = [];
  for (let at = index - 1; at > 0; at -= 2) {
    const parts = messages[at]?.role === "user" ? (messages[at]?.parts ?? []) : [];
    if (!isResultsOnly(parts)) break;
    ids.unshift(...parts.flatMap((part) => (part.type === "call_output" ? [part.call_id] : [])));
  }
  return ids.join(" ");
}

const rank = ({ web }: ToolCall) => (web === "fetch" ? 0 : 1);

function webAddress(url: string): URL | null {
  try {
    const address = new URL(url);
    return address.protocol === "https:" || address.protocol === "http:" ? address : null;
  } catch {
    return null;
  }
}

function given(written: string): { query?: string; url?: string } {
  try {
    const value: unknown = JSON.parse(written);
    if (typeof value !== "object" || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).filter(([, one]) => typeof one === "string" && one.trim()),
    );
  } catch {
    return {};
  }
}
