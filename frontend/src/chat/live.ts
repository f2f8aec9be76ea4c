/** The answers on their way in this tab, one at most for each conversation. */
import { create } from "zustand";
import type { LiveAnswer } from "./view";

interface LiveState {
  answers: Record<string, LiveAnswer>;
}

export const useLiveStore = create<LiveState>(() => ({ answers: {} }));

export const useLiveAnswer = (conversationId: string | undefined): LiveAnswer | null =>
  useLiveStore((state) => (conversationId ? (state.answers[conversationId] ?? null) : null));

export const liveAnswer = (conversationId: string): LiveAnswer | null =>
  useLiveStore.getState().answers[conversationId] ?? null;

/** Whether an answer is still coming, as opposed to one that failed and waits for the reader. */
export const isRunning = (answer: LiveAnswer | null): boolean =>
  answer !== null && answer.phase !== "failed";

export function putLive(conversationId: string, answer: LiveAnswer): void {
  useLiveStore.setState((state) => ({
    answers: { ...state.answers, [conversationId]: answer },
  }));
}

/** Changes the conversation's answer, if there still is one. */
export function patchLive(conversationId: string, patch: Partial<LiveAnswer>): void {
  const current = liveAnswer(conversationId);
  if (current) putLive(conversationId, { ...current, ...patch });
}

export function dropLive(conversationId: string): void {
  useLiveStore.setState((state) => {
    const { [conversationId]: _, ...answers } = state.answers;
    return { answers };
  });
}
