/** What the chat's components read: conversations, the models, and the answer on its way. */
import {
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { listModels } from "@/api/account";
import { getConversation } from "@/api/conversations";
import { firstConversation } from "@/api/first-requests";
import type { Conversation, Model, ModelList, PendingModel } from "@/api/types";
import { conversationKey, isDeleted, modelsKey, refreshConversation } from "./cache";
import { useLiveAnswer } from "./live";
import { joinAnswer } from "./turns";
import { loadedMessages, type ViewMessage, viewMessages } from "./view";

const PENDING_INTERVAL_MS = 2000;
const OUTAGE_INTERVAL_MS = 5000;

/** The models; asked for again and again only while one is on its way or cannot answer. */
export function useModelList(): ModelList {
  const { data } = useQuery(modelsQuery);
  return data ?? NO_MODELS;
}

const modelsQuery = queryOptions({
  queryKey: modelsKey,
  queryFn: listModels,
  staleTime: 60_000,
  refetchInterval: ({ state }) => {
    if (state.data?.pending.some(isOnItsWay)) return PENDING_INTERVAL_MS;
    return state.data?.data.some(isOut) ? OUTAGE_INTERVAL_MS : false;
  },
});

const NO_MODELS: ModelList = { data: [], pending: [] };

/** A chat model that is unloaded may be loading by now, for somebody else. */
const isOut = ({ status, capabilities }: Model): boolean =>
  status === "unavailable" || (status === "idle" && capabilities.includes("chat"));

export const isOnItsWay = (model: PendingModel): boolean => model.state !== "declined";

const conversationQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: conversationKey(id),
    queryFn: ({ pageParam, signal }) => getConversation(id, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page: Conversation) =>
      page.has_more ? (page.messages[0]?.id ?? null) : null,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The conversation that was read for the first render. */
let readBefore: string | null = null;

/** Until it is shown. */
export const isReadFirst = (id: string | undefined): boolean =>
  id !== undefined && id === readBefore;

/** Reads what the document has asked for already, so that it is in the first render. */
export async function readFirst(client: QueryClient): Promise<void> {
  const id = firstConversation();
  if (!id) return;
  readBefore = id;
  await Promise.all([
    client.prefetchQuery(modelsQuery),
    client.prefetchInfiniteQuery(conversationQuery(id)),
  ]);
}

/**
 * One conversation, newest page first. It is read anew when it is opened, when the event socket
 * says so, and after each answer; never by a timer.
 */
export function useConversation(id: string | undefined) {
  const client = useQueryClient();
  const query = useInfiniteQuery({
    ...conversationQuery(id ?? ""),
    enabled: id !== undefined && !isDeleted(client, id),
    refetchOnReconnect: false,
  });

  useEffect(() => {
    if (id && id === readBefore) {
      readBefore = null;
      return;
    }
    const cached = id && client.getQueryData(conversationKey(id));
    if (cached) void refreshConversation(client, id).catch(() => undefined);
  }, [client, id]);

  const newest = query.data?.pages[0];
  // Those of a comparison are followed in its columns.
  const generation = newest?.comparison ? null : (newest?.generation ?? null);
  useEffect(() => {
    if (id && generation) void joinAnswer(client, id, generation);
  }, [client, id, generation]);

  return query;
}

/** The messages of the thread as they are to be shown now. */
export function useViewMessages(id: string | undefined, pages: Conversation[]): ViewMessage[] {
  const live = useLiveAnswer(id);
  const stored = useMemo(() => loadedMessages(pages), [pages]);
  return useMemo(() => viewMessages(stored, live), [stored, live]);
}
