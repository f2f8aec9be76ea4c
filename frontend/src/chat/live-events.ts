/** What an event of its stream makes of an answer on its way. Pure functions. */
import { ApiError, type ErrorBody, NetworkError } from "@/api/errors";
import type { GenerationEvent } from "@/stream/generation";
import { withDelta } from "./parts";
import type { LiveAnswer } from "./view";

/** `live` after `event`, at `now` in ms since the epoch. */
export function afterEvent(live: LiveAnswer, event: GenerationEvent, now: number): LiveAnswer {
  switch (event.type) {
    case "admitted":
      return { ...live, generationId: event.generationId };
    case "started":
      return {
        ...live,
        phase: "streaming",
        generationId: event.ids.generation_id,
        messageId: event.ids.message_id,
        userMessageId: event.ids.user_message_id,
        support: event.ids.support === true,
      };
    case "thought":
    case "text":
      return { ...live, phase: "streaming", parts: withDelta(live.parts, event, now) };
    case "error":
      return afterFailure(live, new ApiError(500, event.error as ErrorBody), now);
    case "connection":
      if (live.phase === "failed") return live;
      if (event.state === "lost") return { ...live, phase: "reconnecting" };
      return live.generationId ? { ...live, phase: "streaming" } : live;
  }
}

/** `live` that could not be begun or broke off. */
export function afterFailure(live: LiveAnswer, error: unknown, now: number): LiveAnswer {
  const known =
    error instanceof ApiError || error instanceof NetworkError ? error : new NetworkError(error);
  const wait = known instanceof ApiError ? known.retryAfter : null;
  const stored = known instanceof ApiError ? known.turn : null;
  return {
    ...live,
    phase: "failed",
    error: known,
    retryAt: wait === null ? null : now + wait * 1000,
    ...(stored && { messageId: stored.message_id, userMessageId: stored.user_message_id }),
  };
}
