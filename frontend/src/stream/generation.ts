/**
 * One answer as it is generated: starts or joins it, and stays on it across broken connections.
 *
 * Promise: every event is delivered to `onEvent` once and in order, whatever the network does,
 * because each carries a sequence number and a reconnect asks for those after the last one seen.
 */
import { request } from "@/api/client";
import { ApiError, type ErrorBody, inPageWords, NetworkError } from "@/api/errors";
import { noteFailure } from "@/api/failures";
import { readSse } from "./sse";

/** The ids that the first event of a chat turn carries beside the OpenAI chunk. */
export interface TurnIds {
  conversation_id: string;
  user_message_id: string | null;
  message_id: string;
  generation_id: string;
  /** The prompt speaks of self-harm: the reader is shown where to find help. */
  support?: boolean;
}

export type GenerationEvent =
  /** The server has taken it; the first token may still be seconds away. */
  | { type: "admitted"; generationId: string }
  | { type: "started"; ids: TurnIds }
  | { type: "thought"; text: string }
  | { type: "text"; text: string }
  | { type: "error"; error: ErrorBody }
  | { type: "connection"; state: "live" | "lost" };

export interface FollowOptions {
  /** Starts the generation (a POST); null joins `generationId` instead. */
  start: ((signal: AbortSignal) => Promise<Response>) | null;
  generationId?: string;
  signal: AbortSignal;
  onEvent: (event: GenerationEvent) => void;
}

interface Chunk {
  parley?: TurnIds;
  error?: ErrorBody;
  choices?: { delta?: { content?: string | null; reasoning_content?: string } }[];
}

/** The server pings every 15 s; twice that and some slack means that the line is dead. */
const SILENCE_MS = 40_000;
const BACKOFF_MS = [250, 500, 1000, 2000, 4000, 8000];

/**
 * Resolves when the stream has said [DONE], or when `signal` aborts.
 *
 * Throws ApiError when the generation could not be started or is no longer buffered, and
 * NetworkError when it could not be started because the server cannot be reached.
 */
export async function followGeneration(options: FollowOptions): Promise<void> {
  const { signal, onEvent } = options;
  let generationId = options.generationId;
  let lastSeq = 0;
  let failures = 0;
  let open =
    options.start ?? ((until: AbortSignal) => joinGeneration(generationId ?? "", lastSeq, until));

  while (!signal.aborted) {
    try {
      const response = await inTime(open, signal);
      if (!response.body) throw new NetworkError();
      generationId ??= response.headers.get("X-Parley-Generation-Id") ?? undefined;
      if (generationId) onEvent({ type: "admitted", generationId });
      onEvent({ type: "connection", state: "live" });
      for await (const event of readSse(response.body, SILENCE_MS)) {
        if (signal.aborted) return;
        const seq = Number(event.id);
        if (seq && seq <= lastSeq) continue;
        lastSeq = seq || lastSeq;
        failures = 0;
        if (event.data === "[DONE]") return;
        const chunk = JSON.parse(event.data) as Chunk;
        generationId = chunk.parley?.generation_id ?? generationId;
        if (chunk.error) {
          chunk.error = await inPageWords(chunk.error);
          const requestId = response.headers.get("X-Request-Id");
          noteFailure({ message: chunk.error.message, status: null, requestId });
        }
        emit(chunk, onEvent);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !isPassing(error)) throw error;
      if (!generationId) throw error instanceof ApiError ? error : new NetworkError(error);
    }
    // The body ended without [DONE], or broke: what is missing is in the server's buffer.
    if (signal.aborted) return;
    if (!generationId) throw new NetworkError();
    onEvent({ type: "connection", state: "lost" });
    await pause(BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 8000, signal);
    failures += 1;
    open = (until) => joinGeneration(generationId ?? "", lastSeq, until);
  }
}

/** A response whose headers come within SILENCE_MS; its body is read under `signal` alone. */
async function inTime(
  open: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal,
): Promise<Response> {
  const abort = new AbortController();
  const end = () => abort.abort();
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      end();
      reject(new NetworkError());
    }, SILENCE_MS);
  });
  try {
    return await Promise.race([open(abort.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

function joinGeneration(id: string, after: number, signal: AbortSignal): Promise<Response> {
  const path = `/api/generations/${encodeURIComponent(id)}/events?after=${after}`;
  return request(path, { signal, headers: after ? { "Last-Event-ID": String(after) } : {} });
}

/** A proxy without its upstream, or a server that is starting: worth another try. */
function isPassing(error: ApiError): boolean {
  return error.status === 502 || error.status === 503 || error.status === 504;
}

function emit(chunk: Chunk, onEvent: (event: GenerationEvent) => void): void {
  if (chunk.parley) onEvent({ type: "started", ids: chunk.parley });
  if (chunk.error) onEvent({ type: "error", error: chunk.error });
  const choice = chunk.choices?.[0];
  const thought = choice?.delta?.reasoning_content;
  if (thought) onEvent({ type: "thought", text: thought });
  if (choice?.delta?.content) onEvent({ type: "text", text: choice.delta.content });
}

/** Waits `ms`, less when the browser comes back online or `signal` aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      window.removeEventListener("online", finish);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    window.addEventListener("online", finish);
    signal.addEventListener("abort", finish);
  });
}
