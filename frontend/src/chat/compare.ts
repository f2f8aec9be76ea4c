/**
 * Asks several models at once. The first one's answer is a turn as any other; when the server has
 * named its prompt, the others answer that prompt too. Each is admitted, limited and billed by
 * itself, so that one that is refused leaves the others alone.
 */
import type { QueryClient } from "@tanstack/react-query";
import { cancelGeneration, patchConversation, postAnswerBeside } from "@/api/conversations";
import { newKey } from "@/lib/uuid";
import { followGeneration } from "@/stream/generation";
import { refreshConversation, refreshLists } from "./cache";
import {
  type Comparison,
  comparisonOf,
  forgetComparison,
  patchColumn,
  putComparison,
} from "./comparison";
import { putLive } from "./live";
import { afterEvent, afterFailure } from "./live-events";
import { post, type Turn } from "./send-turn";
import { newAnswer, persistently } from "./turns";

export const MOST_MODELS = 4;

/** Sends a message to `models`, and follows their answers to the end. */
export async function compare(
  client: QueryClient,
  { conversationId, parts, parentId }: Omit<Turn, "model">,
  models: string[],
): Promise<void> {
  const sent = { parts, at: new Date().toISOString(), key: newKey() };
  const [first = "", ...others] = models;
  putComparison(conversationId, {
    parentId,
    sent,
    promptId: null,
    restored: false,
    columns: models.map((model) => ({ live: newAnswer({ model }), ended: false, stopped: false })),
    abort: new AbortController(),
  });
  const body = { content: parts, parent_id: parentId, model: first, tool_choice: "none" as const };
  let name: (promptId: string | null) => void = () => undefined;
  const named = new Promise<string | null>((resolve) => {
    name = resolve;
  });
  const firstEnds = follow(
    conversationId,
    0,
    (signal) => post(conversationId, body, sent.key, signal),
    // What is read of the conversation then comes earlier than the first word of the stream.
    (generationId) => void promptOf(client, conversationId, generationId).then(name, () => null),
  );
  void firstEnds.then(() =>
    name(comparisonOf(conversationId)?.columns[0]?.live.userMessageId ?? null),
  );
  const promptId = await named;
  const comparison = comparisonOf(conversationId);
  if (!comparison) return;
  if (!promptId) {
    // Nothing is stored: it is a message that could not be sent, as any other.
    const failed = comparison.columns[0]?.live;
    forgetComparison(conversationId);
    if (failed) putLive(conversationId, { ...failed, parentId, sent });
    return;
  }
  putComparison(conversationId, { ...comparison, promptId });
  await Promise.all([
    firstEnds,
    ...others.map((_, index) => answerBeside(conversationId, promptId, index + 1)),
  ]);
  await refreshConversation(client, conversationId).catch(() => null);
  refreshLists(client);
}

/** Asks the model of a column that could not answer once more. */
export function askAgain(conversationId: string, index: number): Promise<void> {
  const comparison = comparisonOf(conversationId);
  const model = comparison?.columns[index]?.live.model;
  if (!comparison?.promptId || !model) return Promise.resolve();
  const fresh = { live: newAnswer({ model }), ended: false, stopped: false };
  patchColumn(conversationId, index, () => fresh);
  return answerBeside(conversationId, comparison.promptId, index);
}

/** Stops one of the answers; what has come of it so far stays. */
export async function stopColumn(conversationId: string, index: number): Promise<void> {
  const column = comparisonOf(conversationId)?.columns[index];
  if (!column || column.ended) return;
  patchColumn(conversationId, index, () => ({ stopped: true }));
  // One without an id is stopped as soon as it has one.
  const { generationId } = column.live;
  if (generationId) await persistently(() => cancelGeneration(generationId));
}

/** Stops all that are on their way. */
export async function stopComparison(conversationId: string): Promise<void> {
  const columns = comparisonOf(conversationId)?.columns ?? [];
  await Promise.all(columns.map((_, index) => stopColumn(conversationId, index)));
}

/** The chat goes on below one of the answers; the others stay as its versions. */
export async function goOnWith(
  client: QueryClient,
  conversationId: string,
  index: number,
): Promise<void> {
  const live = comparisonOf(conversationId)?.columns[index]?.live;
  if (!live?.messageId) return;
  await stopComparison(conversationId);
  const chosen = { active_message_id: live.messageId, model: live.model };
  await patchConversation(conversationId, chosen);
  await refreshConversation(client, conversationId);
  forgetComparison(conversationId);
  refreshLists(client);
}

/** Takes a comparison off the page of which nothing can be gone on with. */
export async function closeComparison(client: QueryClient, conversationId: string): Promise<void> {
  const { active_message_id } = await refreshConversation(client, conversationId);
  // It is shown then as any other, which ends the comparison for the server too.
  if (active_message_id) await patchConversation(conversationId, { active_message_id });
  forgetComparison(conversationId);
  await refreshConversation(client, conversationId);
}

function answerBeside(conversationId: string, promptId: string, index: number): Promise<void> {
  const model = comparisonOf(conversationId)?.columns[index]?.live.model ?? "";
  return follow(conversationId, index, (signal) =>
    postAnswerBeside(promptId, model, index, signal),
  );
}

/** Follows the answer of one column to its end: what `start` begins, or one that runs already. */
export async function follow(
  conversationId: string,
  index: number,
  start: ((signal: AbortSignal) => Promise<Response>) | null,
  onAdmitted?: (generationId: string) => void,
): Promise<void> {
  const { abort, columns } = comparisonOf(conversationId) as Comparison;
  const { signal } = abort;
  const generationId = columns[index]?.live.generationId;
  try {
    await followGeneration({
      start,
      ...(!start && generationId && { generationId }),
      signal,
      onEvent: (event) => {
        if (signal.aborted) return;
        patchColumn(conversationId, index, ({ live }) => ({
          live: afterEvent(live, event, Date.now()),
        }));
        if (event.type !== "admitted") return;
        onAdmitted?.(event.generationId);
        if (comparisonOf(conversationId)?.columns[index]?.stopped) {
          void persistently(() => cancelGeneration(event.generationId)).catch(() => undefined);
        }
      },
    });
  } catch (error) {
    if (!signal.aborted) {
      patchColumn(conversationId, index, ({ live }) => ({
        live: afterFailure(live, error, Date.now()),
      }));
    }
  }
  if (!signal.aborted) patchColumn(conversationId, index, () => ({ ended: true }));
}

/** The prompt that a generation, which has just been admitted, answers. */
async function promptOf(
  client: QueryClient,
  conversationId: string,
  generationId: string,
): Promise<string | null> {
  const { messages } = await refreshConversation(client, conversationId);
  return messages.find((message) => message.generation_id === generationId)?.parent_id ?? null;
}
