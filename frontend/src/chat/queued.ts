/** Messages that wait for the running answer to end, one for each conversation. */
import { create } from "zustand";
import type { Part } from "@/api/types";

interface QueuedState {
  messages: Record<string, Part[]>;
}

const useQueuedStore = create<QueuedState>(() => ({ messages: {} }));

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
