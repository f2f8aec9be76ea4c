import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { errorMessage } from "@/api/errors";
import { listToolCalls } from "@/api/tools";
import { pause } from "@/stream/generation";
import { toast } from "@/ui/toast";
import { toolCallsKey } from "./cache";
import { isDue, isOver, isProgram } from "./program-code";
import { abandonProgram } from "./program-runs";
import type { ViewMessage } from "./view";

/** A page that another one has left its program to looks again. */
const REREAD_MS = 5_000;
/** After a failure, such as a lost connection. */
const AGAIN_MS = 5_000;

const never = new AbortController().signal;

interface RunProgramsProps {
  conversationId: string;
  messages: ViewMessage[];
}

/** Runs the programs that this chat's model calls, one after the other; shows nothing. */
export function RunPrograms({ conversationId, messages }: RunProgramsProps) {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: toolCallsKey(conversationId),
    queryFn: () => listToolCalls(conversationId),
    enabled: messages.some(({ parts }) => parts.some(isProgram)),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ of_page, status }) => of_page && status === "running")
        ? REREAD_MS
        : false,
  });
  const due = data?.data.find(isDue);
  useEffect(() => {
    // Stopped in another window, or the chat has gone on.
    for (const call of data?.data ?? []) if (isOver(call)) abandonProgram(call.id);
  }, [data]);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (!due || busy) return;
    setBusy(true);
    import("./programs")
      .then(({ runDue }) => runDue(client, conversationId, due))
      .catch((error) => {
        toast(errorMessage(error));
        return pause(AGAIN_MS, never);
      })
      .finally(() => setBusy(false));
  }, [client, conversationId, due, busy]);
  return null;
}
