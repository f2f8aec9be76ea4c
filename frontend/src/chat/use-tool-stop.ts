/** Whether the chat's tools are being called, and a stop for that. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { listToolCalls, stopToolCalls } from "@/api/tools";
import { toolCallsKey } from "./cache";

export function useToolStop(id: string | undefined) {
  const client = useQueryClient();
  // What the calls on the page read: they ask again while they run.
  const { data: calling = false } = useQuery({
    queryKey: toolCallsKey(id ?? ""),
    queryFn: () => listToolCalls(id ?? ""),
    enabled: false,
    select: ({ data }) => data.some((call) => call.is_current && call.goes_on),
  });
  const stopTools = useCallback(async () => {
    if (!id || !calling) return;
    try {
      await stopToolCalls(id);
    } finally {
      await client.invalidateQueries({ queryKey: toolCallsKey(id) });
    }
  }, [id, calling, client]);
  return { calling, stopTools };
}
