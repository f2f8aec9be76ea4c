import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ConversationData, conversationKey } from "./cache";
import { putLive, useLiveStore } from "./live";
import { forgetAllAnswers, forgetAnswer, joinAnswer, stopAnswer } from "./turns";
import { type LiveAnswer, loadedMessages } from "./view";

const fetchMock = vi.fn<typeof fetch>();

beforeEach(() => {
  useLiveStore.setState({ answers: {} });
  fetchMock.mockReset();
  vi.stubGlobal("fetch", fetchMock);
  fetchMock.mockImplementation(
    (_, options) =>
      new Promise((_resolve, reject) => {
        options?.signal?.addEventListener("abort", () =>
          reject(new DOMException("aborted", "AbortError")),
        );
      }),
  );
});

describe("a forgotten answer", () => {
  it.each([
    ["by itself", () => forgetAnswer("c")],
    ["with all others", () => forgetAllAnswers()],
  ])("asks the server for nothing any more (%s)", async (_, forget) => {
    const joined = joinAnswer(new QueryClient(), "c", { id: "g", message_id: "m" });
    await vi.waitFor(() => expect(fetchMock).toHaveBeenCalledTimes(1));
    forget();
    await joined;
    expect(fetchMock).toHaveBeenCalledTimes(1);
    expect(useLiveStore.getState().answers).toEqual({});
  });
});

describe("an answer that is pending and cannot be joined", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is asked for again until it has ended", async () => {
    const server = { status: "pending", joins: 0 };
    fetchMock.mockImplementation(async (path) => {
      if (String(path).includes("/events")) {
        server.joins += 1;
        return Response.json({ error: { message: "No such generation" } }, { status: 404 });
      }
      const message = { id: "m", parent_id: null, role: "assistant", status: server.status };
      const generation = server.status === "pending" ? { id: "g", message_id: "m" } : null;
      return Response.json({ id: "c", messages: [message], has_more: false, generation, data: [] });
    });
    const client = new QueryClient();
    await joinAnswer(client, "c", { id: "g", message_id: "m" });
    expect(useLiveStore.getState().answers).toEqual({});
    await vi.advanceTimersByTimeAsync(6_000);
    expect(server.joins).toBe(2);
    server.status = "failed";
    await vi.advanceTimersByTimeAsync(30_000);
    expect(server.joins).toBe(3);
    expect(
      loadedMessages(client.getQueryData<ConversationData>(conversationKey("c"))?.pages ?? []),
    ).toEqual([expect.objectContaining({ status: "failed" })]);
  });
});

describe("a server that cannot be reached for a moment", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** The stream ends at once; the first `failing` reads of the conversation break off. */
  function serve(failing: number) {
    const asked = { reads: 0, cancels: 0 };
    fetchMock.mockImplementation(async (path) => {
      if (String(path).includes("/events")) {
        return new Response("id: 1\ndata: [DONE]\n\n", {
          headers: { "Content-Type": "text/event-stream" },
        });
      }
      if (String(path).includes("/cancel")) {
        asked.cancels += 1;
        if (asked.cancels <= failing) throw new TypeError("Failed to fetch");
        return new Response(null, { status: 204 });
      }
      if (String(path).includes("/conversations/c")) {
        asked.reads += 1;
        if (asked.reads <= failing) throw new TypeError("Failed to fetch");
      }
      const message = { id: "m", parent_id: null, role: "assistant", status: "complete" };
      return Response.json({
        id: "c",
        messages: [message],
        has_more: false,
        generation: null,
        data: [],
      });
    });
    return asked;
  }

  it("is asked again for what is stored of an answer that has ended", async () => {
    const asked = serve(2);
    const joined = joinAnswer(new QueryClient(), "c", { id: "g", message_id: "m" });
    await vi.advanceTimersByTimeAsync(5_000);
    await joined;
    expect(asked.reads).toBe(3);
    expect(useLiveStore.getState().answers).toEqual({});
  });

  it("leaves what was streamed, with a reason, when it stays away", async () => {
    serve(100);
    const joined = joinAnswer(new QueryClient(), "c", { id: "g", message_id: "m" });
    await vi.advanceTimersByTimeAsync(5_000);
    await joined;
    expect(useLiveStore.getState().answers.c?.error?.message).toContain("can't be reached");
  });

  it("is asked again to stop", async () => {
    const asked = serve(1);
    putLive("c", { ...useLiveStore.getState().answers.c, generationId: "g" } as LiveAnswer);
    const stopped = stopAnswer("c");
    await vi.advanceTimersByTimeAsync(5_000);
    await stopped;
    expect(asked.cancels).toBe(2);
  });
});
