/**
 * Comparisons that this tab shows: one prompt, and the answers of several models to it, which are stored as
 * versions of one answer. A comparison is open until one of them is chosen to go on with.
 */
import { create } from "zustand";
import type { LiveAnswer, ViewMessage } from "./view";
import { viewMessages } from "./view";

export interface Column {
  live: LiveAnswer;
  /** Its stream has ended, or could not be begun. */
  ended: boolean;
  /** By the reader. */
  stopped: boolean;
}

export interface Comparison {
  /** Below which message the prompt hangs. */
  parentId: string | null;
  sent: NonNullable<LiveAnswer["sent"]>;
  /** Null until the server has named it. */
  promptId: string | null;
  /** Read from the server: begun before a reload, or by another tab. */
  restored: boolean;
  columns: Column[];
  /** Ends the reading of all of them, not the answers. */
  abort: AbortController;
}

interface ComparisonState {
  comparisons: Record<string, Comparison>;
}

const useComparisons = create<ComparisonState>(() => ({ comparisons: {} }));

export const useComparison = (conversationId: string | undefined): Comparison | null =>
  useComparisons(({ comparisons }) => comparisons[conversationId ?? ""] ?? null);

export const comparisonOf = (conversationId: string): Comparison | null =>
  useComparisons.getState().comparisons[conversationId] ?? null;

/** Whether an answer of it is still coming. */
export const isComparing = (comparison: Comparison | null): boolean =>
  comparison?.columns.some(({ ended }) => !ended) ?? false;

export function putComparison(conversationId: string, comparison: Comparison): void {
  useComparisons.setState(({ comparisons }) => ({
    comparisons: { ...comparisons, [conversationId]: comparison },
  }));
}

/** Changes one column of the conversation's comparison, if there still is one. */
export function patchColumn(
  conversationId: string,
  index: number,
  change: (column: Column) => Partial<Column>,
): void {
  const comparison = comparisonOf(conversationId);
  if (!comparison) return;
  const columns = comparison.columns.map((column, at) =>
    at === index ? { ...column, ...change(column) } : column,
  );
  putComparison(conversationId, { ...comparison, columns });
}

/** Leaves its answers alone, without stopping them on the server. */
export function forgetComparison(conversationId: string): void {
  comparisonOf(conversationId)?.abort.abort();
  useComparisons.setState((state) => {
    const { [conversationId]: _, ...comparisons } = state.comparisons;
    return { comparisons };
  });
}

/** The same for all of them. */
export function forgetComparisons(): void {
  for (const id of Object.keys(useComparisons.getState().comparisons)) forgetComparison(id);
}

/** The messages above the columns: up to the prompt, which may not be stored yet. */
export function messagesAbove(stored: ViewMessage[], comparison: Comparison): ViewMessage[] {
  const [first] = comparison.columns;
  if (!first) return stored;
  const { parentId, sent, promptId } = comparison;
  const asked = { ...first.live, parentId, sent, userMessageId: promptId, messageId: null };
  return viewMessages(stored, asked).slice(0, -1);
}
