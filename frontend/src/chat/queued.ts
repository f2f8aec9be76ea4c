/**
 * Messages that wait for the running answer to end, for each conversation. This tab sends them,
 * after a reload too.
 *
 * A tab that the browser has duplicated holds a copy of the list. Whoever takes a message out of it,
 * to send it or to have it back, claims it first: of all copies one is taken (decision 0378).
 */
import { createStore, type UseStore, update } from "idb-keyval";
import { useMemo } from "react";
import { create } from "zustand";
import type { Part } from "@/api/types";
import { readTabStored, writeTabStored } from "@/lib/storage";
import { newKey } from "@/lib/uuid";

interface Queued {
  key: string;
  parts: Part[];
}

interface QueuedState {
  messages: Record<string, Queued[]>;
}

const KEY = "parley.queued";
const CLAIMED = "claimed";
/** Copies of a tab whose messages are older than so many others are of long ago. */
const MAX_CLAIMED = 500;

const useQueuedStore = create<QueuedState>(() => ({ messages: stored() }));
useQueuedStore.subscribe(({ messages }) => writeTabStored(KEY, JSON.stringify(messages)));

function stored(): QueuedState["messages"] {
  try {
    return JSON.parse(readTabStored(KEY) ?? "{}");
  } catch {
    return {};
  }
}

/** All that waits, as one message. */
export function useQueued(conversationId: string): Part[] | null {
  const queued = useQueuedStore(({ messages }) => messages[conversationId]);
  return useMemo(() => queued?.flatMap(({ parts }) => parts) ?? null, [queued]);
}

/** What is queued joins what waits already. */
export function queue(conversationId: string, parts: Part[]): void {
  const queued = { key: newKey(), parts };
  useQueuedStore.setState(({ messages }) => ({
    messages: { ...messages, [conversationId]: [...(messages[conversationId] ?? []), queued] },
  }));
}

/** Takes what waits out of the queue; null where nothing does, or another tab has taken it. */
export async function takeQueued(conversationId: string): Promise<Part[] | null> {
  const queued = useQueuedStore.getState().messages[conversationId] ?? [];
  dropQueued(conversationId);
  const keys = await claim(queued.map(({ key }) => key));
  const parts = queued.filter(({ key }) => keys.includes(key)).flatMap((one) => one.parts);
  return parts.length > 0 ? parts : null;
}

/** Of a conversation that is gone. */
export function dropQueued(conversationId: string): void {
  const { [conversationId]: _, ...messages } = useQueuedStore.getState().messages;
  useQueuedStore.setState({ messages });
}

export function forgetQueued(): void {
  useQueuedStore.setState({ messages: {} });
}

let store: UseStore | null = null;

/** Those of `keys` that no tab of this browser has claimed before: nobody else gets them. */
async function claim(keys: string[]): Promise<string[]> {
  let won = keys;
  if (keys.length === 0) return won;
  try {
    store ??= createStore("parley.queued", "claims");
    await update<string[]>(
      CLAIMED,
      (claimed = []) => {
        won = keys.filter((key) => !claimed.includes(key));
        return [...claimed, ...won].slice(-MAX_CLAIMED);
      },
      store,
    );
  } catch {
    // Blocked: tabs know nothing of each other.
  }
  return won;
}
