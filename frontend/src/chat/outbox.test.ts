import { QueryClient } from "@tanstack/react-query";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Me } from "@/api/types";
import { useLiveStore } from "./live";
import { startOutbox, tryAgain } from "./outbox";
import { claimOutbox, drop, forgetOutbox, hold, readOutbox, useOutbox } from "./outbox-store";

interface Posted {
  path: string;
  key: string | null;
  body: { content: { text: string }[]; parent_id: string | null };
}

const database = new IDBFactory();
const ada = { user: { id: "ada" }, organization: { id: "o" } } as Me;
const bob = { user: { id: "bob" }, organization: { id: "o" } } as Me;
const begins = { projectId: null, assistantId: null };

let online = true;
let posted: Posted[] = [];
let stored: Record<string, { id: string }[]> = {};
let answer: (posted: Posted) => Response = take;
let stop = () => {};

/** The server stores a message and its answer, and says that it has ended. */
function take({ path, body }: Posted): Response {
  if (path === "/api/conversations") {
    stored.made = [];
    return Response.json({ id: "made" });
  }
  const messages = stored[path.split("/")[3] ?? ""] ?? [];
  messages.push({ id: body.content[0]?.text ?? "" }, { id: `answer to ${body.content[0]?.text}` });
  return new Response("id: 1\ndata: [DONE]\n\n");
}

const refused = (status: number, message: string) =>
  Response.json({ error: { message } }, { status });

function write(messages: { chat: string; text: string; isNew?: boolean }[]): Promise<unknown> {
  const held = messages.map(({ chat, text, isNew }) =>
    hold({
      key: `key of ${text}`,
      chat,
      parts: [{ type: "text", text }],
      model: "m",
      begins: isNew ? begins : null,
      first: null,
      tried: null,
    }),
  );
  return Promise.all(held);
}

const waiting = async () =>
  (await readOutbox()).map(({ chat, refusal, key }) => [chat, refusal, key]);
const sent = () =>
  posted
    .filter(({ path }) => path.endsWith("/messages"))
    .map(({ path, body, key }) => [path.split("/")[3], body.content[0]?.text, body.parent_id, key]);

async function connect(): Promise<void> {
  online = true;
  window.dispatchEvent(new Event("online"));
}

beforeEach(() => {
  online = false;
  posted = [];
  stored = { c: [{ id: "last" }] };
  answer = take;
  useLiveStore.setState({ answers: {} });
  vi.stubGlobal("indexedDB", database);
  vi.spyOn(navigator, "onLine", "get").mockImplementation(() => online);
  vi.stubGlobal(
    "fetch",
    vi.fn<typeof fetch>(async (path, options) => {
      if (!online) throw new TypeError("Failed to fetch");
      const id = String(path).split("?")[0]?.split("/")[3] ?? "";
      if (options?.method !== "POST") {
        const messages = stored[id];
        if (!messages) return refused(404, "It is deleted.");
        return Response.json({ id, messages, has_more: false, generation: null, data: [] });
      }
      const key = new Headers(options.headers).get("Idempotency-Key");
      const post = { path: String(path), key, body: JSON.parse(String(options.body)) };
      posted.push(post);
      return answer(post);
    }),
  );
  claimOutbox(ada);
  stop = startOutbox(new QueryClient());
});

afterEach(() => {
  stop();
  return forgetOutbox();
});

describe("the outbox", () => {
  it("sends what waits in its order when the line is back", async () => {
    await write([
      { chat: "c", text: "one" },
      { chat: "c", text: "two" },
    ]);
    expect(posted).toEqual([]);
    await connect();
    await vi.waitFor(async () => expect(await waiting()).toEqual([]));
    expect(sent()).toEqual([
      ["c", "one", "last", "key of one"],
      ["c", "two", "answer to one", "key of two"],
    ]);
  });

  it("makes one conversation of a new chat", async () => {
    await write([
      { chat: "new", text: "one", isNew: true },
      { chat: "new", text: "two", isNew: true },
    ]);
    await connect();
    await vi.waitFor(async () => expect(await waiting()).toEqual([]));
    expect(posted.filter(({ path }) => path === "/api/conversations")).toHaveLength(1);
    expect(sent()).toEqual([
      ["made", "one", null, "key of one"],
      ["made", "two", "answer to one", "key of two"],
    ]);
  });

  it("sends the same request again when the first one broke", async () => {
    answer = (post) => {
      take(post);
      throw new TypeError("Failed to fetch");
    };
    await write([{ chat: "c", text: "one" }]);
    await connect();
    await vi.waitFor(() => expect(posted).toHaveLength(1));
    answer = () => new Response("id: 1\ndata: [DONE]\n\n");
    await vi.waitFor(async () => expect(await waiting()).toEqual([]), 5000);
    expect(sent()).toEqual([
      ["c", "one", "last", "key of one"],
      ["c", "one", "last", "key of one"],
    ]);
  });

  it("leaves what is refused, and all behind it, to their reader", async () => {
    answer = () => refused(429, "Too many.");
    await write([
      { chat: "c", text: "one" },
      { chat: "c", text: "two" },
    ]);
    await connect();
    await vi.waitFor(async () =>
      expect(await waiting()).toEqual([
        ["c", "Too many.", "key of one"],
        ["c", "Too many.", "key of two"],
      ]),
    );
    expect(posted).toHaveLength(1);

    answer = take;
    await drop("key of two");
    await tryAgain("key of one");
    await vi.waitFor(async () => expect(await waiting()).toEqual([]));
    expect(posted).toHaveLength(2);
    expect(posted[1]?.key).not.toBe(posted[0]?.key);
  });

  it("has the messages of a deleted chat at the new one", async () => {
    await write([{ chat: "gone", text: "one" }]);
    await connect();
    await vi.waitFor(async () =>
      expect(await waiting()).toEqual([["new", "It is deleted.", "key of one"]]),
    );
    expect(posted).toEqual([]);
  });

  it("does not send under a key that the server has forgotten", async () => {
    const tried = { parentId: "last", at: Date.now() - 24 * 60 * 60 * 1000 };
    await hold({ key: "old", chat: "c", parts: [], model: "m", begins: null, first: null, tried });
    await connect();
    await vi.waitFor(() => expect(useOutbox.getState().messages[0]?.refusal).toMatch(/^Perhaps/));
    expect(posted).toEqual([]);
  });

  it("is gone with its user", async () => {
    await write([{ chat: "c", text: "one" }]);
    claimOutbox(bob);
    expect(await waiting()).toEqual([]);

    await write([{ chat: "c", text: "two" }]);
    await forgetOutbox();
    claimOutbox(bob);
    expect(await waiting()).toEqual([]);
  });
});
