/**
 * Sends messages, each with a key of its own: where the connection breaks after the server has
 * received one, sending it again gets the answer to the first and stores nothing twice.
 */
import type { QueryClient } from "@tanstack/react-query";
import { type NewTurn, postTurn } from "@/api/conversations";
import { ApiError } from "@/api/errors";
import type { Part } from "@/api/types";
import { newKey } from "@/lib/uuid";
import { pause } from "@/stream/generation";
import { liveAnswer } from "./live";
import { dismissFailure, newAnswer, run } from "./turns";
import type { LiveAnswer } from "./view";

export interface Turn {
  conversationId: string;
  parts: Part[];
  /** The message below which the turn hangs; null makes a new first message. */
  parentId: string | null;
  /** "" while the list of models is not there yet: the conversation's own. */
  model: string;
}

export interface Sending {
  key: string;
  /** The server has the message. */
  onTaken?: () => Promise<void>;
  /** See `run`. */
  onUnreachable?: (() => Promise<void>) | undefined;
}

/** Sends a message, or an edited one when `parentId` is not the last message. */
export async function sendTurn(
  client: QueryClient,
  turn: Turn,
  { key, onTaken, onUnreachable }: Sending = { key: newKey() },
): Promise<void> {
  const { conversationId, parts, parentId, model } = turn;
  const live = newAnswer({ parentId, model, sent: { parts, at: new Date().toISOString(), key } });
  const body = { content: parts, parent_id: parentId, ...(model && { model }) };
  const start = async (signal: AbortSignal) => {
    const response = await post(conversationId, body, key, signal);
    await onTaken?.();
    return response;
  };
  await run(client, conversationId, live, start, onUnreachable);
  // The answer had ended so long ago that its stream is gone: what is stored, and is shown by now,
  // is all there is.
  if (codeOf(liveAnswer(conversationId)?.error) === "idempotency_answer_lost") {
    await onTaken?.();
    dismissFailure(conversationId);
  }
}

/** Sends what is perhaps not sent yet. To another `model` it is another message. */
export function sendAgain(
  client: QueryClient,
  conversationId: string,
  failed: LiveAnswer,
  { parts, key }: NonNullable<LiveAnswer["sent"]>,
  model: string,
): Promise<void> {
  const turn = { conversationId, parts, parentId: failed.parentId, model };
  return sendTurn(client, turn, { key: model === failed.model ? key : newKey() });
}

/** Where the first one is only being begun, its answer is there a moment later. */
export async function post(
  conversationId: string,
  body: NewTurn,
  key: string,
  signal: AbortSignal,
): Promise<Response> {
  for (;;) {
    try {
      return await postTurn(conversationId, body, key, signal);
    } catch (error) {
      if (codeOf(error) !== "idempotency_key_in_use") throw error;
      await pause(1000, signal);
    }
  }
}

const codeOf = (error: unknown): string | null => (error instanceof ApiError ? error.code : null);
