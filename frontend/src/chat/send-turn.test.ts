import { QueryClient } from "@tanstack/react-query";
import { beforeEach, expect, it, vi } from "vitest";
import { liveAnswer, useLiveStore } from "./live";
import { sendAgain, sendTurn } from "./send-turn";

const fetchMock = vi.fn<typeof fetch>();
const turn = { conversationId: "c", parts: [], parentId: "p", model: "small" };
const read = () =>
  Response.json({ id: "c", messages: [], has_more: false, generation: null, data: [] });
const answered = () => new Response("id: 1\ndata: [DONE]\n\n");
const refused = (code: string) =>
  Response.json({ error: { message: code, code } }, { status: 409 });

/** The server's answers to what is posted, in order; the keys that came with it. */
function serve(...answers: (() => Response)[]): (string | null)[] {
  const keys: (string | null)[] = [];
  fetchMock.mockImplementation(async (_, options) => {
    if (options?.method !== "POST") return read();
    keys.push(new Headers(options.headers).get("Idempotency-Key"));
    const answer = answers[keys.length - 1];
    if (!answer) throw new TypeError("Failed to fetch");
    return answer();
  });
  return keys;
}

beforeEach(() => {
  useLiveStore.setState({ answers: {} });
  vi.stubGlobal("fetch", fetchMock);
});

async function failedTurn() {
  await sendTurn(new QueryClient(), turn);
  const failed = liveAnswer("c");
  if (!failed?.sent) throw new Error("it did not fail");
  return { failed, sent: failed.sent };
}

it("sends a message again with its key, and another with another", async () => {
  const keys = serve();
  const { failed, sent } = await failedTurn();
  await sendAgain(new QueryClient(), "c", failed, sent, "small");
  await sendAgain(new QueryClient(), "c", failed, sent, "large");
  await sendTurn(new QueryClient(), turn);
  expect(keys[0]).toMatch(/^[\w-]{16,}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(new Set(keys).size).toBe(3);
});

it("waits where the first is only being begun", async () => {
  const keys = serve(() => refused("idempotency_key_in_use"), answered);
  await sendTurn(new QueryClient(), turn);
  expect(keys[1]).toBe(keys[0]);
  expect(liveAnswer("c")).toBeNull();
});

it("shows what is stored where the answer's stream is gone", async () => {
  serve(() => refused("idempotency_answer_lost"));
  await sendTurn(new QueryClient(), turn);
  expect(liveAnswer("c")).toBeNull();
});
