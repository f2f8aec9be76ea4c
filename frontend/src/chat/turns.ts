/**
 * Everything that starts, joins or stops an answer (what sends a message: send-turn.ts). The thread's components call these functions;
 * the live store tells them what happens, and the query cache holds what is stored.
 */
import type { QueryClient } from "@tanstack/react-query";
import { cancelGeneration, postContinue, postRegenerate } from "@/api/conversations";
import { NetworkError } from "@/api/errors";
import type { Message } from "@/api/types";
import { followGeneration, type GenerationEvent, pause } from "@/stream/generation";
import { conversationKey, modelsKey, refreshConversation, refreshLists } from "./cache";
import { comparisonOf, forgetComparison, forgetComparisons } from "./comparison";
import { dropLive, isRunning, liveAnswer, patchLive, putLive, useLiveStore } from "./live";
import { afterEvent, afterFailure } from "./live-events";
import { dropQueued, forgetQueued } from "./queued";
import type { LiveAnswer } from "./view";

/** After so long an answer that could not be joined is asked for again. */
const REJOIN_MS = 5_000;
const PAUSES_MS = [250, 500, 1000];
const never = new AbortController().signal;

const aborts = new Map<string, AbortController>();

/** Asks for another answer beside `message`, an assistant's. */
export function regenerate(
  client: QueryClient,
  conversationId: string,
  message: Message,
  model: string,
): Promise<void> {
  const live = newAnswer({ parentId: message.parent_id, model });
  return run(client, conversationId, live, (signal) =>
    postRegenerate(message.id, model || undefined, signal),
  );
}

/** Goes on with an answer that was cut short: the whole of it becomes another one beside it. */
export function continueAnswer(
  client: QueryClient,
  conversationId: string,
  message: Message,
): Promise<void> {
  const live = newAnswer({
    parentId: message.parent_id,
    model: message.model ?? "",
    parts: [{ type: "text", text: message.content }],
  });
  return run(client, conversationId, live, (signal) => postContinue(message.id, signal));
}

/** Joins an answer that runs already: after a reload, or started by another tab. */
export function joinAnswer(
  client: QueryClient,
  conversationId: string,
  generation: { id: string; message_id: string },
): Promise<void> {
  // Those of a comparison are followed in its columns.
  if (isRunning(liveAnswer(conversationId)) || comparisonOf(conversationId)) {
    return Promise.resolve();
  }
  const live = newAnswer({
    messageId: generation.message_id,
    generationId: generation.id,
    phase: "streaming",
  });
  return run(client, conversationId, live, null);
}

/** Stops the answer; what has come so far stays. */
export async function stopAnswer(conversationId: string): Promise<void> {
  const live = liveAnswer(conversationId);
  if (!live) return;
  // Without an id there is nothing to name to the server yet: it is stopped as soon as it has one.
  const { generationId } = live;
  if (generationId) await persistently(() => cancelGeneration(generationId));
  else patchLive(conversationId, { stopping: true });
}

/** Takes a failed turn off the page. */
export function dismissFailure(conversationId: string): void {
  if (!isRunning(liveAnswer(conversationId))) dropLive(conversationId);
}

/** Reads an answer no more, which goes on to be shown elsewhere. */
export function leaveAnswer(conversationId: string): void {
  aborts.get(conversationId)?.abort();
  // Without its entry the answer that ends now is not settled: nothing more is read of it.
  aborts.delete(conversationId);
  dropLive(conversationId);
}

/** Leaves an answer alone without stopping it on the server: the conversation was deleted. */
export function forgetAnswer(conversationId: string): void {
  leaveAnswer(conversationId);
  forgetComparison(conversationId);
  dropQueued(conversationId);
}

/** The same for all of them: another user is signed in now, or none. */
export function forgetAllAnswers(): void {
  for (const conversationId of [...aborts.keys()]) forgetAnswer(conversationId);
  useLiveStore.setState({ answers: {} });
  forgetComparisons();
  forgetQueued();
}

export function newAnswer(known: Partial<LiveAnswer>): LiveAnswer {
  return {
    parentId: null,
    sent: null,
    userMessageId: null,
    messageId: null,
    generationId: null,
    model: "",
    parts: [],
    stopping: false,
    support: false,
    phase: "sending",
    error: null,
    retryAt: null,
    ...known,
  };
}

/**
 * Follows an answer to its end, in place of the conversation's last one. One whose request broke
 * before an answer began has failed, or is left to `onUnreachable`.
 */
export async function run(
  client: QueryClient,
  conversationId: string,
  live: LiveAnswer,
  start: ((signal: AbortSignal) => Promise<Response>) | null,
  onUnreachable?: () => Promise<void>,
): Promise<void> {
  aborts.get(conversationId)?.abort();
  const abort = new AbortController();
  aborts.set(conversationId, abort);
  putLive(conversationId, live);
  const onEvent = (event: GenerationEvent) => {
    if (!abort.signal.aborted) apply(conversationId, event);
  };
  try {
    await followGeneration({
      start,
      ...(live.generationId && { generationId: live.generationId }),
      signal: abort.signal,
      onEvent,
    });
  } catch (error) {
    const stopping = liveAnswer(conversationId)?.stopping ?? false;
    if (abort.signal.aborted) return;
    if (onUnreachable && error instanceof NetworkError && !stopping) {
      aborts.delete(conversationId);
      await onUnreachable();
      // Else it is being sent again already.
      if (!aborts.has(conversationId)) dropLive(conversationId);
      return;
    }
    fail(conversationId, error);
  }
  if (aborts.get(conversationId) === abort) {
    aborts.delete(conversationId);
    await settle(client, conversationId);
  }
}

function apply(conversationId: string, event: GenerationEvent): void {
  const live = liveAnswer(conversationId);
  if (!live) return;
  const ended = event.type === "admitted" && live.stopping;
  putLive(conversationId, {
    ...afterEvent(live, event, Date.now()),
    ...(ended && { stopping: false }),
  });
  if (ended) {
    persistently(() => cancelGeneration(event.generationId)).catch((error) =>
      fail(conversationId, error),
    );
  }
}

function fail(conversationId: string, error: unknown): void {
  const live = liveAnswer(conversationId);
  if (live) putLive(conversationId, afterFailure(live, error, Date.now()));
}

/**
 * After the end of a stream: what is stored takes the place of what was streamed. Of a failure
 * the server keeps no more than that it happened, so its reason stays on the page until a retry.
 */
async function settle(client: QueryClient, conversationId: string): Promise<void> {
  const fresh = await persistently(() => refreshConversation(client, conversationId)).catch(
    () => null,
  );
  refreshLists(client);
  const live = liveAnswer(conversationId);
  if (!live) return;
  // Perhaps its model is out: the page says so, and when it is back.
  if (live.phase === "failed") void client.invalidateQueries({ queryKey: modelsKey });
  if (fresh?.generation && fresh.generation.id === live.generationId) {
    // Its stream is gone and it has not ended: its process was lost, and the server fails it over
    // or ends it. Which of the two is asked for until it is known.
    const { generation } = fresh;
    dropLive(conversationId);
    setTimeout(() => {
      // Deleted or signed out meanwhile: then it is in the cache no more.
      if (client.getQueryState(conversationKey(conversationId))) {
        void joinAnswer(client, conversationId, generation);
      }
    }, REJOIN_MS);
  } else if (live.phase === "failed") {
    if (fresh && !isOpenFailure(fresh.messages, live)) dropLive(conversationId);
  } else if (fresh) {
    dropLive(conversationId);
  } else {
    // Not even the stored answer can be read: keep what was streamed, and offer a retry.
    fail(conversationId, new NetworkError());
  }
}

/**
 * `ask`, again after a while where the server could not be reached: a browser that has just come
 * back online breaks connections off for another moment.
 */
export async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  for (const wait of PAUSES_MS) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error;
      await pause(wait, never);
    }
  }
  return ask();
}

/** Whether the failure says more than what is stored of the answer. */
function isOpenFailure(messages: Message[], live: LiveAnswer): boolean {
  const stored = messages.find(({ id }) => id === live.messageId);
  if (stored) return stored.status === "failed";
  // An answer that was joined and is gone: what is stored is all there is.
  return live.sent !== null || live.messageId === null;
}
