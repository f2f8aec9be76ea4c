/** The query cache's entries for conversations: their keys, and how they are kept right. */
import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import { type ConversationFilter, getConversation } from "@/api/conversations";
import type { Conversation, ConversationList, ConversationSummary } from "@/api/types";
import { mergeNewestPage } from "./view";

export const conversationKey = (id: string) => ["conversation", id] as const;
export const listKey = (filter: ConversationFilter) => ["conversations", filter] as const;
const allLists = ["conversations"] as const;

export type ConversationData = InfiniteData<Conversation, string | null>;
export type ListData = InfiniteData<ConversationList, string | null>;

/** Reads the newest page again and keeps the older ones where they still fit. */
export async function refreshConversation(client: QueryClient, id: string): Promise<Conversation> {
  const fresh = await getConversation(id, null);
  client.setQueryData<ConversationData>(conversationKey(id), (data) => {
    const pages = mergeNewestPage(data?.pages ?? [], fresh);
    const pageParams = pages.map((_, index) => pages[index - 1]?.messages[0]?.id ?? null);
    return { pages, pageParams };
  });
  return fresh;
}

/** Marks the sidebar's lists as out of date; those on the page are read again. */
export function refreshLists(client: QueryClient): void {
  void client.invalidateQueries({ queryKey: allLists });
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

/** Changes what every loaded page of a conversation says about it, such as its title. */
export function patchConversationData(
  client: QueryClient,
  id: string,
  patch: Partial<Conversation>,
): void {
  client.setQueryData<ConversationData>(conversationKey(id), (data) =>
    data ? { ...data, pages: data.pages.map((page) => ({ ...page, ...patch })) } : data,
  );
}
