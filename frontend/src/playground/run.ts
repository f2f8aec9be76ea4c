/** One request of the playground: what comes of it, while it streams and when it has ended. */
import { request } from "@/api/client";
import { type ErrorBody, NetworkError } from "@/api/errors";
import { readSse } from "@/stream/sse";
import type { Body } from "./body";

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  prompt_tokens_details?: { cached_tokens: number; image_tokens?: number };
  completion_tokens_details?: { reasoning_tokens: number; cached_tokens?: number };
}

export interface TokenChance {
  token: string;
  logprob: number;
}

export interface Token extends TokenChance {
  top_logprobs: TokenChance[];
}

export interface Run {
  text: string;
  thought: string;
  calls: { name: string; arguments: string }[];
  tokens: Token[];
  finishReason: string | null;
  usage: Usage | null;
  /** From the request to the first token, and to the end. */
  firstTokenMs: number | null;
  totalMs: number | null;
  /** Of this minute, as the answer's headers say. */
  requestsLeft: string | null;
  tokensLeft: string | null;
}

interface Delta {
  content?: string | null;
  reasoning_content?: string;
  tool_calls?: { index: number; function: { name?: string; arguments?: string } }[];
}

interface Chunk {
  error?: ErrorBody;
  usage?: Usage | null;
  choices?: {
    delta: Delta;
    finish_reason: string | null;
    logprobs?: { content: Token[] } | null;
  }[];
}

const SILENCE_MS = 40_000;

/** Sends `body` and tells `onChange` of each change. Throws ApiError, NetworkError. */
export async function runRequest(
  body: Body,
  signal: AbortSignal,
  onChange: (run: Run) => void,
): Promise<void> {
  const began = performance.now();
  const response = await request("/api/chat/completions", {
    method: "POST",
    body: { ...body, stream: true, stream_options: { include_usage: true } },
    signal,
  });
  if (!response.body) throw new NetworkError();
  let run: Run = {
    text: "",
    thought: "",
    calls: [],
    tokens: [],
    finishReason: null,
    usage: null,
    firstTokenMs: null,
    totalMs: null,
    requestsLeft: response.headers.get("x-ratelimit-remaining-requests"),
    tokensLeft: response.headers.get("x-ratelimit-remaining-tokens"),
  };
  onChange(run);
  for await (const event of readSse(response.body, SILENCE_MS)) {
    if (signal.aborted || event.data === "[DONE]") break;
    const chunk = JSON.parse(event.data) as Chunk;
    if (chunk.error) throw new Error(chunk.error.message);
    run = withChunk(run, chunk, performance.now() - began);
    onChange(run);
  }
  onChange({ ...run, totalMs: performance.now() - began });
}

/** `run` with what one chunk adds to it. */
export function withChunk(run: Run, chunk: Chunk, atMs: number): Run {
  const choice = chunk.choices?.[0];
  const next: Run = { ...run, usage: chunk.usage ?? run.usage };
  if (!choice) return next;
  const { content, reasoning_content: thought, tool_calls: calls } = choice.delta;
  next.text += content ?? "";
  next.thought += thought ?? "";
  for (const call of calls ?? []) next.calls = withCall(next.calls, call);
  next.tokens = [...run.tokens, ...(choice.logprobs?.content ?? [])];
  next.finishReason = choice.finish_reason ?? run.finishReason;
  if (content || thought || calls) next.firstTokenMs ??= atMs;
  return next;
}

function withCall(
  calls: Run["calls"],
  { index, function: said }: NonNullable<Delta["tool_calls"]>[number],
): Run["calls"] {
  const known = calls[index] ?? { name: "", arguments: "" };
  const call = {
    name: known.name + (said.name ?? ""),
    arguments: known.arguments + (said.arguments ?? ""),
  };
  return calls.toSpliced(index, 1, call);
}

/** US dollars by the model's prices per 1,000 tokens. */
export function costOf(
  usage: Usage,
  prices: Record<
    "input" | "cached_input" | "image" | "output" | "reasoning" | "cached_output",
    string | null
  >,
): number {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const images = usage.prompt_tokens_details?.image_tokens ?? 0;
  const thought = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  const reused = usage.completion_tokens_details?.cached_tokens ?? 0;
  const thousands =
    (usage.prompt_tokens - cached - images) * Number(prices.input) +
    cached * Number(prices.cached_input) +
    images * Number(prices.image) +
    (usage.completion_tokens - thought - reused) * Number(prices.output) +
    thought * Number(prices.reasoning) +
    reused * Number(prices.cached_output);
  return thousands / 1000;
}
