import { describe, expect, it } from "vitest";
import type { Conversation, Message } from "@/api/types";
import {
  ANSWER_ID,
  type LiveAnswer,
  loadedMessages,
  mergeNewestPage,
  SENT_ID,
  viewMessages,
} from "./view";

function message(id: string, parentId: string | null, role: "user" | "assistant"): Message {
  return {
    id,
    parent_id: parentId,
    role,
    content: `text of ${id}`,
    parts: [{ type: "text", text: `text of ${id}` }],
    status: "completed",
    model: "auto",
    finish_reason: null,
    created_at: "2026-11-21T08:00:00Z",
    siblings: [id],
    feedback: null,
    generation_id: null,
    has_documents: false,
    memory: null,
    memories: [],
    from_outage: false,
    read_in_part: false,
    support: false,
    withheld: [],
  };
}

/** m0 … m(n-1), user and assistant in turn, as one branch. */
const NO_PARAMETERS = {
  temperature: null,
  top_p: null,
  max_tokens: null,
  seed: null,
  presence_penalty: null,
  frequency_penalty: null,
};

const branch = (length: number) =>
  Array.from({ length }, (_, index) =>
    message(`m${index}`, index ? `m${index - 1}` : null, index % 2 ? "assistant" : "user"),
  );

function page(messages: Message[], hasMore: boolean): Conversation {
  return {
    id: "c",
    title: "",
    model: "auto",
    pinned: false,
    archived: false,
    messages,
    has_more: hasMore,
    active_message_id: messages.at(-1)?.id ?? null,
    comparison: null,
    generation: null,
    instructions: "",
    parameters: NO_PARAMETERS,
    temporary: false,
    project_id: null,
    web_search: false,
    assistant: null,
  };
}

function live(known: Partial<LiveAnswer>): LiveAnswer {
  return {
    parentId: null,
    sent: null,
    userMessageId: null,
    messageId: null,
    generationId: null,
    model: "auto",
    parts: [{ type: "text", text: "so far" }],
    stopping: false,
    support: false,
    phase: "streaming",
    error: null,
    retryAt: null,
    ...known,
  };
}

const sent = {
  parts: [{ type: "text" as const, text: "new" }],
  at: "2026-11-21T09:00:00Z",
  key: "key",
};
const ids = (messages: Message[]) => messages.map(({ id }) => id);

describe("viewMessages", () => {
  it("shows what is stored when nothing is on its way", () => {
    expect(ids(viewMessages(branch(4), null))).toEqual(["m0", "m1", "m2", "m3"]);
  });

  it("appends a message that has just been sent, and its answer", () => {
    const shown = viewMessages(branch(2), live({ parentId: "m1", sent }));
    expect(ids(shown)).toEqual(["m0", "m1", SENT_ID, ANSWER_ID]);
    expect(shown.at(-1)).toMatchObject({ content: "so far", status: "pending" });
  });

  it("takes the place of everything below an edited message's parent", () => {
    const shown = viewMessages(branch(6), live({ parentId: "m1", sent }));
    expect(ids(shown)).toEqual(["m0", "m1", SENT_ID, ANSWER_ID]);
  });

  it("starts again from nothing when the first message is edited", () => {
    expect(ids(viewMessages(branch(4), live({ sent })))).toEqual([SENT_ID, ANSWER_ID]);
  });

  it("takes the place of a regenerated answer and of what follows it", () => {
    const shown = viewMessages(branch(6), live({ parentId: "m2" }));
    expect(ids(shown)).toEqual(["m0", "m1", "m2", ANSWER_ID]);
  });

  it("shows the question once when the server has it already", () => {
    const known = { parentId: "m1", sent, userMessageId: "m2", messageId: "new" };
    expect(ids(viewMessages(branch(3), live(known)))).toEqual(["m0", "m1", "m2", "new"]);
  });

  it("shows nothing of an answer that runs on another branch", () => {
    const view = viewMessages(branch(4), live({ messageId: "elsewhere", generationId: "g" }));
    expect(ids(view)).toEqual(["m0", "m1", "m2", "m3"]);
  });

  it("lays streamed text over the stored answer of the same id", () => {
    const shown = viewMessages(branch(4), live({ messageId: "m3" }));
    expect(ids(shown)).toEqual(["m0", "m1", "m2", "m3"]);
    expect(shown[3]).toMatchObject({ content: "so far", status: "pending" });
  });
});

describe("mergeNewestPage", () => {
  const all = branch(30);

  it("keeps older pages that join on without a gap", () => {
    const pages = [page(all.slice(10, 20), true), page(all.slice(0, 10), false)];
    const merged = mergeNewestPage(pages, page(all.slice(12, 22), true));
    expect(ids(loadedMessages(merged))).toEqual(ids(all.slice(0, 22)));
    expect(merged.at(-1)?.has_more).toBe(false);
  });

  it("drops older pages when too much is new for them to join on", () => {
    const merged = mergeNewestPage([page(all.slice(0, 10), false)], page(all.slice(20, 30), true));
    expect(ids(loadedMessages(merged))).toEqual(ids(all.slice(20, 30)));
    expect(merged[0]?.has_more).toBe(true);
  });

  it("drops older pages that belong to another branch", () => {
    const other = [...branch(9), { ...message("x", "m8", "assistant") }];
    const fresh = page([message("y", "x2", "user"), message("x", "y", "assistant")], true);
    expect(ids(loadedMessages(mergeNewestPage([page(other, false)], fresh)))).toEqual(["y", "x"]);
  });

  it("never shows a message twice", () => {
    for (let from = 0; from < 20; from += 1) {
      const pages = [page(all.slice(from, 20), from > 0)];
      const shown = ids(loadedMessages(mergeNewestPage(pages, page(all.slice(15, 25), true))));
      expect(new Set(shown).size).toBe(shown.length);
      expect(shown.at(-1)).toBe("m24");
    }
  });
});
