import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getContext } from "@/api/conversations";
import type { ContextUse, Conversation } from "@/api/types";
import { contextKey } from "./cache";

/** How full a chat is for its model; `running`: what an answer will have added is not known yet. */
export function useContextUse(
  conversation: Conversation | undefined,
  running: boolean,
): ContextUse | undefined {
  const { id = "", active_message_id: leaf = null } = conversation ?? {};
  const { model, instructions, parameters } = conversation ?? {};
  const { data } = useQuery({
    queryKey: [...contextKey(id), leaf, model, instructions, parameters],
    queryFn: () => getContext(id),
    enabled: leaf !== null && !running,
    placeholderData: keepPreviousData,
    retry: false,
  });
  return data;
}
