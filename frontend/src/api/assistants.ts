/** Requests about assistants. */
import { api, withQuery } from "./client";
import type { Page } from "./teams";
import type { Assistant, AssistantTool, ChatParameters, Role, SharedFile } from "./types";

export interface AssistantBody {
  name: string;
  description: string;
  instructions: string;
  /** Null: the model of the person. */
  model: string | null;
  parameters: ChatParameters;
  starters: string[];
  /** Null: what the person has switched on. */
  tools: { server_id: string; name: string }[] | null;
  seen_by: Role[];
  edited_by: Role[];
}

const pathOf = (id: string) => `/api/assistants/${encodeURIComponent(id)}`;

export const listAssistants = (cursor: string | null) =>
  api<Page<Assistant>>(withQuery("/api/assistants", { cursor }));

/** What an assistant can name. */
export const listAssistantTools = () => api<{ data: AssistantTool[] }>("/api/assistants/tools");

export const getAssistant = (id: string) => api<Assistant>(pathOf(id));

export const createAssistant = (body: AssistantBody) =>
  api<Assistant>("/api/assistants", { method: "POST", body });

export const updateAssistant = (id: string, body: AssistantBody) =>
  api<Assistant>(pathOf(id), { method: "PATCH", body });

export const deleteAssistant = (id: string) => api<void>(pathOf(id), { method: "DELETE" });

export const duplicateAssistant = (id: string) =>
  api<Assistant>(`${pathOf(id)}/duplicate`, { method: "POST" });

export const listAssistantFiles = (id: string) =>
  api<{ data: SharedFile[] }>(`${pathOf(id)}/files`).then((list) => list.data);

export const addAssistantFile = (id: string, attachmentId: string) =>
  api<SharedFile>(`${pathOf(id)}/files`, {
    method: "POST",
    body: { attachment_id: attachmentId },
  });

export const removeAssistantFile = (id: string, fileId: string) =>
  api<void>(`${pathOf(id)}/files/${fileId}`, { method: "DELETE" });
