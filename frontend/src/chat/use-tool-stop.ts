/** Whether the chat's tools are being called, and a stop for that. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { listToolCalls, stopToolCalls } from "@/api/tools";
import type { ToolCall } from "@/api/types";
import { toolCallsKey } from "./cache";
import { abandonProgram } from "./program-runs";

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
    // A program of this page ends now, and not when the server's word is here.
    const known = client.getQueryData<{ data: ToolCall[] }>(toolCallsKey(id));
    for (const call of known?.data ?? []) {
      if (call.is_current) abandonProgram(call.id);
    }
    try {
      await stopToolCalls(id);
    } finally {
      await client.invalidateQueries({ queryKey: toolCallsKey(id) });
    }
  }, [id, calling, client]);
  return { calling, stopTools };
}
