import { InfiniteQueryObserver, QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { getConversation } from "@/api/conversations";
import type { Conversation, Message } from "@/api/types";
import {
  type ConversationData,
  changeShown,
  conversationKey,
  listKey,
  patchMessage,
  readAgain,
  refreshConversation,
  refreshLists,
  stopReading,
} from "./cache";
import { loadedMessages } from "./view";

const ID = "c";
const message = (id: string, parent_id: string | null) =>
  ({ id, parent_id, role: "user", content: id, siblings: [id] }) as unknown as Message;
const page = (messages: Message[], has_more: boolean) =>
  ({ id: ID, messages, has_more, generation: null }) as unknown as Conversation;

const OLDER = page([message("1", null), message("2", "1")], false);
const NEWEST = page([message("3", "2")], true);
const AFTER_THE_TURN = page([message("3", "2"), message("4", "3")], true);

/** Answers of the server by `before`, each given by hand. */
let waiting: { before: string | null; answer: (page: Conversation) => void }[] = [];
const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });

beforeEach(() => {
  client.clear();
  waiting = [];
  vi.stubGlobal("fetch", (path: string, { signal }: RequestInit) => {
    const before = new URL(path, "http://parley").searchParams.get("before");
    return new Promise<Response>((resolve, reject) => {
      waiting.push({ before, answer: (body) => resolve(Response.json(body)) });
      signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    });
  });
});

const asked = (before: string | null, nth = 0) =>
  vi.waitFor(() => {
    const found = waiting.filter((request) => request.before === before)[nth];
    if (!found) throw new Error(`request ${nth} before ${before} has not come`);
    return found;
  });
const shown = () =>
  loadedMessages(client.getQueryData<ConversationData>(conversationKey(ID))?.pages ?? []).map(
    ({ id }) => id,
  );

async function opened() {
  const observer = new InfiniteQueryObserver(client, {
    queryKey: conversationKey(ID),
    queryFn: ({ pageParam, signal }) => getConversation(ID, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Conversation) =>
      last.has_more ? (last.messages[0]?.id ?? null) : null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  observer.subscribe(() => undefined);
  (await asked(null)).answer(NEWEST);
  await vi.waitFor(() => expect(shown()).toEqual(["3"]));
  return observer;
}

describe("stopReading", () => {
  it("lets what is being read end first, and begins nothing more", async () => {
    await opened();
    const refresh = refreshConversation(client, ID);
    const underWay = await asked(null, 1);
    let stopped = false;
    const stopping = stopReading(client, ID).then(() => {
      stopped = true;
    });
    await Promise.resolve();
    expect(stopped).toBe(false);
    underWay.answer(NEWEST);
    await refresh;
    await stopping;

    await expect(refreshConversation(client, ID)).rejects.toThrow("deleted");
    expect(waiting).toHaveLength(2);
    readAgain(client, ID);
    const again = refreshConversation(client, ID);
    (await asked(null, 2)).answer(NEWEST);
    await again;
  });
});

describe("refreshConversation", () => {
  it("keeps the finished turn when older messages are being loaded meanwhile", async () => {
    const observer = await opened();
    const older = observer.fetchNextPage();
    const late = await asked("3");
    const refresh = refreshConversation(client, ID);
    (await asked(null, 1)).answer(AFTER_THE_TURN);
    await refresh;
    late.answer(OLDER);
    await older.catch(() => undefined);
    expect(shown()).toEqual(expect.arrayContaining(["3", "4"]));
  });

  it("shows what was read last, whichever answer comes first", async () => {
    await opened();
    const first = refreshConversation(client, ID);
    const second = refreshConversation(client, ID);
    const slow = await asked(null, 1);
    const next = waiting.filter(({ before }) => before === null)[2];
    next?.answer(AFTER_THE_TURN);
    slow.answer(NEWEST);
    await first;
    if (!next) (await asked(null, 2)).answer(AFTER_THE_TURN);
    await second;
    expect(shown()).toEqual(["3", "4"]);
  });

  it("keeps a rating that is given while older messages are being loaded", async () => {
    const observer = await opened();
    const older = observer.fetchNextPage();
    const late = await asked("3");
    const feedback = { rating: 1, comment: "" } as never;
    await patchMessage(client, ID, "3", { feedback });
    late.answer(OLDER);
    await older.catch(() => undefined);
    const pages = client.getQueryData<ConversationData>(conversationKey(ID))?.pages ?? [];
    expect(loadedMessages(pages).find(({ id }) => id === "3")?.feedback).toEqual(feedback);
  });

  it("reads once more, and no more often, however many ask while it reads", async () => {
    await opened();
    const all = [1, 2, 3, 4].map(() => refreshConversation(client, ID));
    (await asked(null, 1)).answer(NEWEST);
    (await asked(null, 2)).answer(AFTER_THE_TURN);
    await Promise.all(all);
    expect(waiting).toHaveLength(3);
  });

  it("reads again after a refresh that failed", async () => {
    await opened();
    vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ error: {} }, { status: 500 })));
    await expect(refreshConversation(client, ID)).rejects.toThrow();
    vi.stubGlobal("fetch", () => Promise.resolve(Response.json(AFTER_THE_TURN)));
    await refreshConversation(client, ID);
    expect(shown()).toEqual(["3", "4"]);
  });
});

describe("the sidebar's lists", () => {
  let reads = 0;
  let leave = () => {};
  const PAUSE_MS = 500;
  const lists = new QueryClient();

  beforeEach(async () => {
    vi.useFakeTimers();
    const observer = new QueryObserver(lists, {
      queryKey: listKey({}),
      queryFn: () => Promise.resolve({ pages: [], pageParams: [], read: ++reads }),
      staleTime: Number.POSITIVE_INFINITY,
    });
    leave = observer.subscribe(() => {});
    await vi.advanceTimersByTimeAsync(0);
    reads = 0;
  });

  afterEach(async () => {
    await vi.advanceTimersByTimeAsync(2 * PAUSE_MS);
    leave();
    lists.clear();
    vi.useRealTimers();
  });

  it("are read at once, and once more for all that changed in the pause after it", async () => {
    for (let change = 0; change < 5; change += 1) {
      refreshLists(lists);
      await vi.advanceTimersByTimeAsync(50);
    }
    expect(reads).toBe(1);
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(reads).toBe(2);
    await vi.advanceTimersByTimeAsync(10 * PAUSE_MS);
    expect(reads).toBe(2);
  });

  it("are read by who opens one in the pause", async () => {
    refreshLists(lists);
    await vi.advanceTimersByTimeAsync(1);
    refreshLists(lists);
    expect(lists.getQueryState(listKey({}))?.isInvalidated).toBe(true);
  });

  it("are not read between a change on the page and the server's answer", async () => {
    refreshLists(lists);
    await vi.advanceTimersByTimeAsync(1);
    refreshLists(lists);
    const takeBack = await changeShown(lists, ID, {}, () => null);
    await vi.advanceTimersByTimeAsync(2 * PAUSE_MS);
    expect(reads).toBe(1);
    takeBack();
    await vi.advanceTimersByTimeAsync(0);
    expect(reads).toBe(2);
  });
});
