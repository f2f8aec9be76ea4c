/** Requests about what is remembered of the reader. */
import { api } from "./client";
import type { Memory, MemoryList } from "./types";

const path = (id: string) => `/api/memories/${encodeURIComponent(id)}`;
const ofMessage = (id: string) => `/api/messages/${encodeURIComponent(id)}/memory`;

export const getMemories = () => api<MemoryList>("/api/memories");

export const postMemory = (text: string) =>
  api<Memory>("/api/memories", { method: "POST", body: { text } });

export const patchMemory = (id: string, text: string) =>
  api<Memory>(path(id), { method: "PATCH", body: { text } });

export const deleteMemory = (id: string) => api<void>(path(id), { method: "DELETE" });

export const deleteMemories = () =>
  api<{ forgotten: number }>("/api/memories", { method: "DELETE" });

export const putMemorySwitch = (isOn: boolean) =>
  api<MemoryList>("/api/memories/settings", { method: "PUT", body: { is_on: isOn } });

export const putMemoryPolicy = (isAllowed: boolean) =>
  api<MemoryList>("/api/memories/policy", { method: "PUT", body: { is_allowed: isAllowed } });

/** Keeps what is proposed under a message, in these words. */
export const saveProposal = (messageId: string, text: string) =>
  api<Memory>(ofMessage(messageId), { method: "POST", body: { text } });

/** Takes a proposal off the page; what was kept of it is forgotten again. */
export const dismissProposal = (messageId: string) =>
  api<void>(ofMessage(messageId), { method: "DELETE" });
