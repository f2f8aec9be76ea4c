/** Requests about conversations, their messages, shares and attachments. */
import { api, request, withQuery } from "./client";
import type {
  Attachment,
  ChatDefaults,
  ChatParameters,
  ContextUse,
  Conversation,
  ConversationList,
  ConversationSummary,
  FoundConversation,
  ImportPart,
  Part,
  QueuePlace,
  SentPrompt,
  Share,
  SharedConversation,
  SharePage,
  Sharing,
  Sources,
  TagCount,
  TrashErased,
  Withheld,
} from "./types";

export interface ConversationFilter {
  search?: string;
  tag?: string;
  project_id?: string;
  archived?: boolean;
  deleted?: boolean;
}

export const listConversations = (filter: ConversationFilter, cursor: string | null) =>
  api<ConversationList>(withQuery("/api/conversations", { ...filter, cursor, limit: 30 }));

/** The best first, each with the place that was found. */
export const searchConversations = (query: string, signal?: AbortSignal) =>
  api<{ data: FoundConversation[] }>(
    withQuery("/api/conversations/search", { query, limit: 30 }),
    signal ? { signal } : {},
  );

export const createConversation = (
  model: string | null,
  projectId: string | null,
  temporary = false,
  assistantId: string | null = null,
) =>
  api<ConversationSummary>("/api/conversations", {
    method: "POST",
    body: {
      ...(model && { model }),
      ...(projectId && { project_id: projectId }),
      ...(temporary && { temporary }),
      ...(assistantId && { assistant_id: assistantId }),
    },
  });

/** The newest page is on the way to the first look; older ones are read ahead of the scroll. */
const NEWEST_PAGE = 60;
const OLDER_PAGE = 200;

export const getConversation = (id: string, before: string | null, signal?: AbortSignal) =>
  api<Conversation>(
    withQuery(`/api/conversations/${encodeURIComponent(id)}`, {
      before,
      limit: before ? OLDER_PAGE : NEWEST_PAGE,
    }),
    signal ? { signal } : {},
  );

export const getContext = (id: string) =>
  api<ContextUse>(`/api/conversations/${encodeURIComponent(id)}/context`);

export const summariseNow = (id: string) =>
  api<ContextUse>(`/api/conversations/${encodeURIComponent(id)}/summary`, { method: "POST" });

export const undoSummary = (id: string) =>
  api<ContextUse>(`/api/conversations/${encodeURIComponent(id)}/summary`, { method: "DELETE" });

export interface ConversationPatch {
  title?: string;
  pinned?: boolean;
  archived?: boolean;
  model?: string;
  active_message_id?: string;
  project_id?: string;
  instructions?: string;
  parameters?: ChatParameters;
  tags?: string[];
  web_search?: boolean;
}

export const listTags = () => api<{ data: TagCount[] }>("/api/conversations/tags");

export const patchConversation = (id: string, patch: ConversationPatch) =>
  api<ConversationSummary>(`/api/conversations/${encodeURIComponent(id)}`, {
    method: "PATCH",
    body: patch,
  });

export const deleteConversation = (id: string) =>
  api<void>(`/api/conversations/${encodeURIComponent(id)}`, { method: "DELETE" });

export const restoreConversation = (id: string) =>
  api<ConversationSummary>(`/api/conversations/${encodeURIComponent(id)}/restore`, {
    method: "POST",
  });

export type BulkAction = "archive" | "unarchive" | "delete" | "restore";

/** How many a request takes. */
const MAX_BULK = 200;

function* inParts(ids: string[]): Generator<string[]> {
  for (let from = 0; from < ids.length; from += MAX_BULK) yield ids.slice(from, from + MAX_BULK);
}

/** Changes any number of conversations, in as many requests as that takes. */
export async function postBulk(ids: string[], action: BulkAction): Promise<{ changed: number }> {
  let changed = 0;
  for (const part of inParts(ids)) {
    const body = { ids: part, action };
    const path = "/api/conversations/bulk";
    changed += (await api<{ changed: number }>(path, { method: "POST", body })).changed;
  }
  return { changed };
}

/** Erases chats of the trash for good, in as many requests as that takes. */
export async function eraseTrash(
  ids: string[] | "all",
): Promise<{ erased: number; generating: number }> {
  const total = { erased: 0, generating: 0 };
  for (const part of ids === "all" ? [ids] : inParts(ids)) {
    let done: TrashErased;
    do {
      const path = "/api/conversations/trash/erase";
      done = await api<TrashErased>(path, { method: "POST", body: { ids: part } });
      total.erased += done.erased;
    } while (done.remaining > 0);
    total.generating += done.generating;
  }
  return total;
}

export const postImport = (conversations: unknown[]) =>
  api<ImportPart>("/api/conversations/import", { method: "POST", body: { conversations } });

export const exportPath = (id: string, format: "markdown" | "json") =>
  withQuery(`/api/conversations/${encodeURIComponent(id)}/export`, { format });

/** What the model may have this page run: programs, where the browser can (chat/run-programs.tsx). */
const pageTools = () =>
  typeof Worker === "function" && typeof WebAssembly === "object" ? { page_tools: ["python"] } : {};

export interface NewTurn {
  content: string | Part[];
  /** Absent: below the active leaf. Null: a new root. */
  parent_id?: string | null;
  model?: string;
  /** "none": the model is offered no tools. */
  tool_choice?: "auto" | "none";
}

/** Sent again with the same `key`, it gets the first one's answer. */
export const postTurn = (conversationId: string, turn: NewTurn, key: string, signal: AbortSignal) =>
  request(`/api/conversations/${encodeURIComponent(conversationId)}/messages`, {
    method: "POST",
    body: { ...turn, ...pageTools() },
    headers: { "Idempotency-Key": key },
    signal,
  });

export const postRegenerate = (messageId: string, model: string | undefined, signal: AbortSignal) =>
  request(`/api/messages/${encodeURIComponent(messageId)}/regenerate`, {
    method: "POST",
    body: { ...(model && { model }), ...pageTools() },
    signal,
  });

/** A further answer to a prompt, by `model` and without tools, also while others are on their way. */
export const postAnswerBeside = (
  promptId: string,
  model: string,
  place: number,
  signal: AbortSignal,
) =>
  request(`/api/messages/${encodeURIComponent(promptId)}/regenerate`, {
    method: "POST",
    body: { model, tool_choice: "none", beside: place },
    signal,
  });

export const postContinue = (messageId: string, signal: AbortSignal) =>
  request(`/api/messages/${encodeURIComponent(messageId)}/continue`, { method: "POST", signal });

export const getQueuePlace = (id: string) =>
  api<QueuePlace>(`/api/generations/${encodeURIComponent(id)}/queue`);

export const cancelGeneration = (id: string) =>
  api<void>(`/api/generations/${encodeURIComponent(id)}/cancel`, { method: "POST" });

export const putFeedback = (messageId: string, rating: 1 | -1 | null, comment = "") =>
  api<unknown>(`/api/messages/${encodeURIComponent(messageId)}/feedback`, {
    method: "PUT",
    body: rating === null ? { rating } : { rating, comment },
  });

export const getSentPrompt = (messageId: string) =>
  api<SentPrompt>(`/api/messages/${encodeURIComponent(messageId)}/sent`);

/** Where in attached files an answer was read from. */
export const getSources = (messageId: string) =>
  api<Sources>(`/api/messages/${encodeURIComponent(messageId)}/sources`);

/** The text that was kept from the model of an answer. */
export const getWithheld = (messageId: string) =>
  api<Withheld>(`/api/messages/${encodeURIComponent(messageId)}/withheld`);

export const getChatDefaults = () => api<ChatDefaults>("/api/me/chat-defaults");

export const putChatDefaults = (body: ChatDefaults) =>
  api<ChatDefaults>("/api/me/chat-defaults", { method: "PUT", body });

export const postAttachment = (file: File, signal?: AbortSignal) => {
  const form = new FormData();
  form.set("file", file);
  return api<Attachment>("/api/attachments", {
    method: "POST",
    body: form,
    ...(signal && { signal }),
  });
};

/** Its bytes. */
export const getAttachment = async (id: string) =>
  new Uint8Array(await (await request(`/api/attachments/${encodeURIComponent(id)}`)).arrayBuffer());

export const createShare = (conversationId: string, days: number) =>
  api<Share>(`/api/conversations/${encodeURIComponent(conversationId)}/shares`, {
    method: "POST",
    body: { expires_in_days: days },
  });

export type ShareScope = "mine" | "organization";

export const listShares = (scope: ShareScope, cursor: string | null) =>
  api<SharePage>(withQuery("/api/shares", { scope, cursor, limit: 30 }));

export const getSharing = () => api<Sharing>("/api/sharing");

export const putSharing = (isAllowed: boolean) =>
  api<Sharing>("/api/sharing", { method: "PUT", body: { is_allowed: isAllowed } });

export const deleteShare = (id: string) =>
  api<void>(`/api/shares/${encodeURIComponent(id)}`, { method: "DELETE" });

/** What a link shows becomes a chat of one's own. */
export const copyShared = (token: string) =>
  api<ConversationSummary>(`/api/shared/${encodeURIComponent(token)}/copy`, { method: "POST" });

export const getShared = (token: string) =>
  api<SharedConversation>(`/api/shared/${encodeURIComponent(token)}`);
