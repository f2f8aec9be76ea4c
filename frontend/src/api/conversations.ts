/** Requests about conversations, their messages, shares and attachments. */
import { api, request, withQuery } from "./client";
import type {
  Attachment,
  Conversation,
  ConversationList,
  ConversationSummary,
  Part,
  QueuePlace,
  Share,
  SharedConversation,
  SharePage,
  Sharing,
} from "./types";

export interface ConversationFilter {
  search?: string;
  archived?: boolean;
}

export const listConversations = (filter: ConversationFilter, cursor: string | null) =>
  api<ConversationList>(withQuery("/api/conversations", { ...filter, cursor, limit: 30 }));

export const createConversation = (model: string | null, projectId: string | null) =>
  api<ConversationSummary>("/api/conversations", {
    method: "POST",
    body: { ...(model && { model }), ...(projectId && { project_id: projectId }) },
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

export interface ConversationPatch {
  title?: string;
  pinned?: boolean;
  archived?: boolean;
  model?: string;
  active_message_id?: string;
  project_id?: string;
}

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

export interface NewTurn {
  content: string | Part[];
  /** Absent: below the active leaf. Null: a new root. */
  parent_id?: string | null;
  model?: string;
}

export const postTurn = (conversationId: string, turn: NewTurn, signal: AbortSignal) =>
  request(`/api/conversations/${encodeURIComponent(conversationId)}/messages`, {
    method: "POST",
    body: turn,
    signal,
  });

export const postRegenerate = (messageId: string, model: string | undefined, signal: AbortSignal) =>
  request(`/api/messages/${encodeURIComponent(messageId)}/regenerate`, {
    method: "POST",
    body: model ? { model } : {},
    signal,
  });

export const getQueuePlace = (id: string) =>
  api<QueuePlace>(`/api/generations/${encodeURIComponent(id)}/queue`);

export const cancelGeneration = (id: string) =>
  api<void>(`/api/generations/${encodeURIComponent(id)}/cancel`, { method: "POST" });

export const putFeedback = (messageId: string, rating: 1 | -1 | null, comment = "") =>
  api<unknown>(`/api/messages/${encodeURIComponent(messageId)}/feedback`, {
    method: "PUT",
    body: rating === null ? { rating } : { rating, comment },
  });

export const postAttachment = (file: File, signal?: AbortSignal) => {
  const form = new FormData();
  form.set("file", file);
  return api<Attachment>("/api/attachments", {
    method: "POST",
    body: form,
    ...(signal && { signal }),
  });
};

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

export const getShared = (token: string) =>
  api<SharedConversation>(`/api/shared/${encodeURIComponent(token)}`);
