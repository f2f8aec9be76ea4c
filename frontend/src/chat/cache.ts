/** The query cache's entries for conversations: their keys, and how they are kept right. */
import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import { type ConversationFilter, getConversation } from "@/api/conversations";
import type { Conversation, ConversationList, ConversationSummary, Message } from "@/api/types";
import { mergeNewestPage } from "./view";

export const modelsKey = ["models"] as const;
export const chatDefaultsKey = ["chat-defaults"] as const;
export const conversationKey = (id: string) => ["conversation", id] as const;
export const listKey = (filter: ConversationFilter) => ["conversations", filter] as const;
export const toolCallsKey = (id: string) => ["tool-calls", id] as const;
export const contextKey = (id: string) => ["context", id] as const;
export const myToolsKey = ["my-tools"] as const;
export const assistantsKey = ["assistants"] as const;
export const assistantKey = (id: string) => [...assistantsKey, id] as const;
export const tagsKey = ["tags"] as const;
export const searchKey = (words: string) => ["conversation-search", words] as const;
const allLists = ["conversations"] as const;

export type ConversationData = InfiniteData<Conversation, string | null>;
export type ListData = InfiniteData<ConversationList, string | null>;

interface Refresh {
  running: Promise<Conversation>;
  /** Asked for while one was running, which may have been answered before the change. */
  next: Promise<Conversation> | null;
}

const refreshes = new WeakMap<QueryClient, Map<string, Refresh>>();
const deleted = new WeakMap<QueryClient, Set<string>>();
const LISTS_PAUSE_MS = 500;
const pauses = new WeakMap<QueryClient, { readAfter: boolean }>();

/** Whether this page has deleted the conversation, or begun to: it is read no more. */
export const isDeleted = (client: QueryClient, id: string): boolean =>
  deleted.get(client)?.has(id) ?? false;

/**
 * Ends all reading of a conversation that is about to be deleted, though its chat is still shown:
 * resolves when no read is under way that the server would answer with 404.
 */
export async function stopReading(client: QueryClient, id: string): Promise<void> {
  const ids = deleted.get(client) ?? new Set<string>();
  deleted.set(client, ids.add(id));
  await client.cancelQueries({ queryKey: conversationKey(id) });
  const refresh = refreshes.get(client)?.get(id);
  await (refresh?.next ?? refresh?.running)?.catch(() => undefined);
}

/** The conversation is there again: its deletion was refused, or undone. */
export function readAgain(client: QueryClient, id: string): void {
  deleted.get(client)?.delete(id);
}

/**
 * Reads the newest page again and keeps the older ones where they still fit.
 *
 * One at a time for each conversation: what is asked for while one runs is read once more after
 * it, so that the last to be shown is the last that was read. Rejects for one that is deleted.
 */
export function refreshConversation(client: QueryClient, id: string): Promise<Conversation> {
  if (isDeleted(client, id)) return Promise.reject(new Error("The conversation is deleted."));
  const byId = refreshes.get(client) ?? new Map<string, Refresh>();
  refreshes.set(client, byId);
  const current = byId.get(id);
  if (current) {
    current.next ??= current.running
      .catch(() => undefined)
      .then(() => startRefresh(client, byId, id));
    return current.next;
  }
  return startRefresh(client, byId, id);
}

function startRefresh(
  client: QueryClient,
  byId: Map<string, Refresh>,
  id: string,
): Promise<Conversation> {
  const running = readNewest(client, id);
  const refresh: Refresh = { running, next: null };
  byId.set(id, refresh);
  const done = () => {
    if (byId.get(id) === refresh && !refresh.next) byId.delete(id);
  };
  running.then(done, done);
  return running;
}

async function readNewest(client: QueryClient, id: string): Promise<Conversation> {
  const fresh = await getConversation(id, null);
  await writeConversation(client, id, (data) => {
    const pages = mergeNewestPage(data?.pages ?? [], fresh);
    const pageParams = pages.map((_, index) => pages[index - 1]?.messages[0]?.id ?? null);
    return { pages, pageParams };
  });
  return fresh;
}

/**
 * Changes what is shown of a conversation. A read that runs ends first: it would write the state
 * in which it began over this one.
 */
async function writeConversation(
  client: QueryClient,
  id: string,
  change: (data: ConversationData | undefined) => ConversationData | undefined,
): Promise<void> {
  await client.cancelQueries({ queryKey: conversationKey(id) });
  client.setQueryData<ConversationData>(conversationKey(id), change);
}

/**
 * Marks the sidebar's lists as out of date; those on the page are read again.
 *
 * At once, and then no more than once in LISTS_PAUSE_MS: a prompt and its answer are four or five
 * changes, and each read is a request.
 */
export function refreshLists(client: QueryClient): void {
  const pause = pauses.get(client);
  if (pause) {
    pause.readAfter = true;
    // A list that is opened meanwhile reads what is there then.
    void client.invalidateQueries({ queryKey: allLists, refetchType: "none" });
    return;
  }
  void client.invalidateQueries({ queryKey: allLists });
  const begun = { readAfter: false };
  pauses.set(client, begun);
  setTimeout(() => {
    pauses.delete(client);
    if (begun.readAfter) refreshLists(client);
  }, LISTS_PAUSE_MS);
}

/** Changes one conversation's row wherever it is listed, before the server has confirmed. */
export function patchRow(
  client: QueryClient,
  id: string,
  change: (row: ConversationSummary) => ConversationSummary | null,
): void {
  client.setQueriesData<ListData>({ queryKey: allLists }, (data) => {
    if (!data) return data;
    const pages = data.pages.map((page) => ({
      ...page,
      data: page.data.flatMap((row) => (row.id === id ? (change(row) ?? []) : row)),
    }));
    return { ...data, pages };
  });
}

/**
 * Shows a change of a conversation before the server has confirmed it, in the chat (`patch`) and in
 * its rows (`show`).
 *
 * Returns:
 *   What takes it back, for a server that refuses or cannot be reached.
 */
export async function changeShown(
  client: QueryClient,
  id: string,
  patch: Partial<Conversation>,
  show: (row: ConversationSummary) => ConversationSummary | null,
): Promise<() => void> {
  // What is read before the server has changed it would show it as it was.
  const pause = pauses.get(client);
  if (pause) pause.readAfter = false;
  await client.cancelQueries({ queryKey: allLists });
  const lists = client.getQueriesData<ListData>({ queryKey: allLists });
  const first = client.getQueryData<ConversationData>(conversationKey(id))?.pages[0];
  const fields = Object.keys(patch) as (keyof Conversation)[];
  const before = first && Object.fromEntries(fields.map((field) => [field, first[field]]));
  patchRow(client, id, show);
  await patchPages(client, id, (page) => ({ ...page, ...patch }));
  return () => {
    for (const [key, data] of lists) client.setQueryData(key, data);
    if (before) void patchPages(client, id, (page) => ({ ...page, ...before }));
    refreshLists(client);
  };
}

/** Shows one message of a conversation otherwise than it was read, such as with a rating. */
export function patchMessage(
  client: QueryClient,
  id: string,
  messageId: string,
  patch: Partial<Message>,
): Promise<void> {
  return patchPages(client, id, (page) => ({
    ...page,
    messages: page.messages.map((message) =>
      message.id === messageId ? { ...message, ...patch } : message,
    ),
  }));
}

function patchPages(
  client: QueryClient,
  id: string,
  change: (page: Conversation) => Conversation,
): Promise<void> {
  return writeConversation(client, id, (data) =>
    data ? { ...data, pages: data.pages.map(change) } : data,
  );
}
