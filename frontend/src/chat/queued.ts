/**
 * Messages that wait for the running answer to end, one for each conversation. This tab sends them,
 * after a reload too.
 */
import { create } from "zustand";
import type { Part } from "@/api/types";
import { readTabStored, writeTabStored } from "@/lib/storage";

interface QueuedState {
  messages: Record<string, Part[]>;
}

const KEY = "parley.queued";

const useQueuedStore = create<QueuedState>(() => ({ messages: stored() }));
useQueuedStore.subscribe(({ messages }) => writeTabStored(KEY, JSON.stringify(messages)));

function stored(): QueuedState["messages"] {
  try {
    return JSON.parse(readTabStored(KEY) ?? "{}");
  } catch {
    return {};
  }
}

export const useQueued = (conversationId: string | undefined): Part[] | null =>
  useQueuedStore((state) => (conversationId ? (state.messages[conversationId] ?? null) : null));

/** What is queued joins what waits already. */
export function queue(conversationId: string, parts: Part[]): void {
  useQueuedStore.setState(({ messages }) => ({
    messages: { ...messages, [conversationId]: [...(messages[conversationId] ?? []), ...parts] },
  }));
}

/** Takes what waits out of the queue; null where nothing does. */
export function unqueue(conversationId: string): Part[] | null {
  const { [conversationId]: parts, ...messages } = useQueuedStore.getState().messages;
  useQueuedStore.setState({ messages });
  return parts ?? null;
}

export function forgetQueued(): void {
  useQueuedStore.setState({ messages: {} });
}
