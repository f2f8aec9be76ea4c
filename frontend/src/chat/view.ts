/**
 * What the thread shows: the stored messages of the active branch, with the answer that is being
 * generated laid over them. Pure functions; the store and the cache are elsewhere.
 */
import type { ApiError, NetworkError } from "@/api/errors";
import type { Conversation, Message, Part } from "@/api/types";
import { textOfParts } from "./parts";

/** One answer on its way, as this tab knows it. */
export interface LiveAnswer {
  /** Below which message the turn hangs: the new user message's parent. */
  parentId: string | null;
  /** What the user sent, and the key by which the server knows it again; null for a regeneration and for an answer joined after a reload. */
  sent: { parts: Part[]; at: string; key: string } | null;
  userMessageId: string | null;
  messageId: string | null;
  generationId: string | null;
  model: string;
  /** What has come so far. */
  parts: Part[];
  /** Stop was pressed before the server had named the generation. */
  stopping: boolean;
  /** The reader is shown where to find help: their message speaks of self-harm. */
  support: boolean;
  phase: "sending" | "streaming" | "reconnecting" | "failed";
  error: ApiError | NetworkError | null;
  /** When a refused turn may be sent again, in ms since the epoch. */
  retryAt: number | null;
}

/** A message as the thread shows it. */
export interface ViewMessage extends Message {
  /** Set on the answer that is being generated or that could not be. */
  live: LiveAnswer | null;
}

export const SENT_ID = "sent";
export const ANSWER_ID = "answer";

/** All loaded messages, oldest first. `pages` come newest page first. */
export function loadedMessages(pages: Conversation[]): Message[] {
  return pages.toReversed().flatMap((page) => page.messages);
}

/** The messages to show. Ids of stored messages stay; a turn not stored yet gets SENT/ANSWER_ID. */
export function viewMessages(stored: Message[], live: LiveAnswer | null): ViewMessage[] {
  const plain = stored.map(withoutLive);
  if (!live) return plain;

  const known = live.messageId ? stored.findIndex(({ id }) => id === live.messageId) : -1;
  if (known !== -1) {
    return plain
      .slice(0, known + 1)
      .map((message, index) => (index === known ? overlay(message, live) : message));
  }
  // Joined after a reload or from another tab, and not among these: it runs on another branch.
  if (live.messageId && !live.sent && live.parentId === null) return plain;
  const kept = plain.slice(0, keptLength(stored, live));
  if (live.sent && !kept.some(({ id }) => id === live.userMessageId)) {
    kept.push(sentMessage(live, live.sent));
  }
  const question = kept.at(-1);
  kept.push(overlay(blankAnswer(live, question?.id ?? null), live));
  return kept;
}

/** How many stored messages stay above the turn: its question too, when that is stored. */
function keptLength(stored: Message[], live: LiveAnswer): number {
  const question = live.userMessageId
    ? stored.findIndex(({ id }) => id === live.userMessageId)
    : -1;
  if (question !== -1) return question + 1;
  if (live.parentId === null) return live.sent ? 0 : stored.length;
  const parent = stored.findIndex(({ id }) => id === live.parentId);
  return parent === -1 ? stored.length : parent + 1;
}

// One view for each stored message, so that what has not changed is not rendered again.
const plainViews = new WeakMap<Message, ViewMessage>();

function withoutLive(message: Message): ViewMessage {
  const known = plainViews.get(message);
  if (known) return known;
  const view = { ...message, live: null };
  plainViews.set(message, view);
  return view;
}

function overlay(message: ViewMessage, live: LiveAnswer): ViewMessage {
  // What is stored of a running answer may lag behind what has been streamed, never lead.
  return {
    ...message,
    content: textOfParts(live.parts),
    parts: live.parts,
    status: "pending",
    live,
  };
}

function sentMessage(live: LiveAnswer, sent: NonNullable<LiveAnswer["sent"]>): ViewMessage {
  const id = live.userMessageId ?? SENT_ID;
  return {
    ...emptyMessage(id, live.parentId),
    role: "user",
    content: textOfParts(sent.parts),
    parts: sent.parts,
    created_at: sent.at,
    live: null,
  };
}

/** The answer of `live`, to be shown by itself. */
export const answerOf = (live: LiveAnswer): ViewMessage =>
  overlay(blankAnswer(live, live.userMessageId), live);

function blankAnswer(live: LiveAnswer, parentId: string | null): ViewMessage {
  const id = live.messageId ?? ANSWER_ID;
  return { ...emptyMessage(id, parentId), status: "pending", model: live.model, live };
}

function emptyMessage(id: string, parentId: string | null): Message {
  return {
    id,
    parent_id: parentId,
    role: "assistant",
    content: "",
    parts: [],
    status: "completed",
    model: null,
    finish_reason: null,
    created_at: new Date(0).toISOString(),
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

/**
 * Puts a newly read newest page in front of the older ones that are loaded.
 *
 * Older pages stay only when they join on without a gap; else they would show messages of
 * another branch, or leave some out.
 */
export function mergeNewestPage(pages: Conversation[], fresh: Conversation): Conversation[] {
  const first = fresh.messages[0];
  if (!fresh.has_more || !first) return [fresh];
  const loaded = loadedMessages(pages);
  const joint = loaded.findIndex(({ id }) => id === first.id);
  if (joint <= 0 || loaded[joint - 1]?.id !== first.parent_id) return [fresh];
  const older = loaded.slice(0, joint);
  const oldest = pages.at(-1);
  return [fresh, { ...fresh, messages: older, has_more: oldest?.has_more ?? false }];
}

/** Whether the server knows the message, as opposed to one that this page has made up. */
export const isStored = (message: Message): boolean =>
  message.id !== SENT_ID && message.id !== ANSWER_ID;
