import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import {
  type ConversationFilter,
  listConversations,
  searchConversations,
} from "@/api/conversations";
import { listKey, searchKey } from "@/chat/cache";

/** The conversations that fit `filter`, page by page. */
export function useConversations(filter: ConversationFilter) {
  const query = useInfiniteQuery({
    queryKey: listKey(filter),
    queryFn: ({ pageParam }) => listConversations(filter, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  });
  const rows = useMemo(() => {
    // A row that moved up while the next page was read is in both.
    const all = query.data?.pages.flatMap((page) => page.data) ?? [];
    return [...new Map(all.map((row) => [row.id, row])).values()];
  }, [query.data]);
  return { ...query, rows };
}

/** The conversations that have every word of `words`, the best first. */
export function useSearch(words: string) {
  return useQuery({
    queryKey: searchKey(words),
    queryFn: ({ signal }) => searchConversations(words, signal),
    enabled: words !== "",
    placeholderData: keepPreviousData,
  });
}

/** A ref for an element at a list's end: `action` runs each time it comes near the view. */
export function useWhenSeen(action: () => void, enabled: boolean) {
  const ref = useRef<HTMLDivElement>(null);
  const latest = useRef(action);
  useEffect(() => {
    latest.current = action;
  });
  useEffect(() => {
    const element = ref.current;
    if (!element || !enabled) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) latest.current();
      },
      { rootMargin: "300px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [enabled]);
  return ref;
}
