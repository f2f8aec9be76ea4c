import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, NetworkError } from "@/api/errors";
import { followGeneration, type GenerationEvent } from "./generation";

/** The server's buffer of one answer, as the bytes of each event. */
const EVENTS = ["Hel", "lo ", "wor", "ld"].map((text, index) => {
  const chunk: Record<string, unknown> = { choices: [{ delta: { content: text } }] };
  if (index === 0) {
    chunk.parley = {
      conversation_id: "c",
      user_message_id: "u",
      message_id: "m",
      generation_id: "g",
    };
  }
  return `id: ${index + 1}\ndata: ${JSON.stringify(chunk)}\n\n`;
});
EVENTS.push(`id: 5\ndata: ${JSON.stringify({ choices: [{ finish_reason: "stop" }] })}\n\n`);
EVENTS.push("id: 6\ndata: [DONE]\n\n");

function respond(bytes: Uint8Array): Response {
  return new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(bytes);
        controller.close();
      },
    }),
  );
}

/** Events `after`, cut off after `count` bytes. */
const slice = (after: number, count: number) =>
  new TextEncoder().encode(EVENTS.slice(after).join("")).slice(0, count);

async function follow(options: { start: (() => Promise<Response>) | null; generationId?: string }) {
  const events: GenerationEvent[] = [];
  const controller = new AbortController();
  const onEvent = (event: GenerationEvent) => events.push(event);
  await followGeneration({ ...options, signal: controller.signal, onEvent });
  const text = events.map((event) => (event.type === "text" ? event.text : "")).join("");
  return { events, text };
}

describe("followGeneration", () => {
  const fetchMock = vi.fn<typeof fetch>();

  beforeEach(() => {
    fetchMock.mockReset();
    vi.stubGlobal("fetch", fetchMock);
    // Any wait is over at once: what is tested is the order of things.
    vi.spyOn(globalThis, "setTimeout").mockImplementation((handler, ms) => {
      if (typeof handler === "function" && (ms ?? 0) < 20_000) queueMicrotask(() => handler());
      return 0 as never;
    });
  });

  it("loses and repeats nothing, wherever the connection breaks", async () => {
    const firstEvent = EVENTS[0]?.length ?? 0;
    const total = EVENTS.join("").length;
    for (let cut = firstEvent; cut < total; cut += 1) {
      fetchMock.mockImplementation((url) => {
        const after = Number(new URL(String(url), "http://host").searchParams.get("after"));
        return Promise.resolve(respond(slice(after, 1e6)));
      });
      const { text, events } = await follow({ start: async () => respond(slice(0, cut)) });
      expect(text, `cut after ${cut} bytes`).toBe("Hello world");
      expect(events).toContainEqual({ type: "connection", state: "lost" });
    }
  });

  it("asks for the events after the last one that it has seen", async () => {
    const twoEvents = (EVENTS[0]?.length ?? 0) + (EVENTS[1]?.length ?? 0);
    fetchMock.mockImplementation(() => Promise.resolve(respond(slice(2, 1e6))));
    await follow({ start: async () => respond(slice(0, twoEvents)) });
    const [url, init] = fetchMock.mock.calls[0] ?? [];
    expect(url).toBe("/api/generations/g/events?after=2");
    expect(new Headers(init?.headers).get("Last-Event-ID")).toBe("2");
  });

  it("skips events that a server sends twice", async () => {
    const twoEvents = (EVENTS[0]?.length ?? 0) + (EVENTS[1]?.length ?? 0);
    fetchMock.mockImplementation(() => Promise.resolve(respond(slice(0, 1e6))));
    const { text } = await follow({ start: async () => respond(slice(0, twoEvents)) });
    expect(text).toBe("Hello world");
  });

  it("joins a running generation from its beginning", async () => {
    fetchMock.mockImplementation(() => Promise.resolve(respond(slice(0, 1e6))));
    const { text } = await follow({ start: null, generationId: "g" });
    expect(text).toBe("Hello world");
  });

  it("keeps trying while the server is away, then goes on", async () => {
    fetchMock
      .mockRejectedValueOnce(new TypeError("Failed to fetch"))
      .mockResolvedValueOnce(new Response("{}", { status: 502 }))
      .mockImplementation(() => Promise.resolve(respond(slice(1, 1e6))));
    const { text } = await follow({ start: async () => respond(slice(0, EVENTS[0]?.length ?? 0)) });
    expect(text).toBe("Hello world");
    expect(fetchMock).toHaveBeenCalledTimes(3);
  });

  it("says so when the answer is no longer there to join", async () => {
    fetchMock.mockResolvedValue(
      new Response(JSON.stringify({ error: { message: "No such generation" } }), { status: 404 }),
    );
    await expect(follow({ start: null, generationId: "g" })).rejects.toThrow("No such generation");
  });

  it("does not start again what may have started already", async () => {
    const start = vi.fn(async () => {
      throw new NetworkError();
    });
    await expect(follow({ start })).rejects.toThrow(NetworkError);
    expect(start).toHaveBeenCalledTimes(1);
  });

  it("hands on a refusal as the API worded it", async () => {
    const refusal = new ApiError(429, { message: "Slow down" }, 7);
    const start = async () => {
      throw refusal;
    };
    await expect(follow({ start })).rejects.toBe(refusal);
  });

  it("reports an error event, then ends", async () => {
    const error = { message: "The engine went away", code: "upstream_failed" };
    const body = `id: 1\ndata: ${JSON.stringify({ error })}\n\nid: 2\ndata: [DONE]\n\n`;
    const { events } = await follow({
      start: async () => respond(new TextEncoder().encode(body)),
    });
    const message = "The model could not answer. Try again."; // the page's own words
    expect(events).toContainEqual({ type: "error", error: { ...error, message } });
  });
});

describe("a server that takes the request and says nothing", () => {
  const never = () => new Promise<Response>(() => undefined);

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is given up for a start, which may be sent again by the user", async () => {
    const followed = expect(follow({ start: never })).rejects.toThrow(NetworkError);
    await vi.advanceTimersByTimeAsync(60_000);
    await followed;
  });

  it("is asked again for an answer that runs", async () => {
    const fetchMock = vi.fn<typeof fetch>(async () => respond(slice(0, 1e6)));
    fetchMock.mockImplementationOnce(never);
    vi.stubGlobal("fetch", fetchMock);
    const followed = follow({ start: null, generationId: "g" });
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await followed).text).toBe("Hello world");
    expect(fetchMock.mock.calls[0]?.[1]?.signal?.aborted).toBe(true);
  });
});
