import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ConversationData, conversationKey } from "./cache";
import { useLiveStore } from "./live";
import { forgetAllAnswers, forgetAnswer, joinAnswer } from "./turns";
import { loadedMessages } from "./view";

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
