/** Requests about tools: an organization's servers, a person's switches, calls of a chat. */
import { api } from "./client";
import type { MyTools, ProgramResult, ProgramRun, ToolCall, ToolServer } from "./types";

const servers = "/api/organization/tool-servers";
const at = (id: string) => `${servers}/${encodeURIComponent(id)}`;

export const listToolServers = () => api<{ data: ToolServer[] }>(servers);

export type ToolAuth = ToolServer["auth"];

interface NewToolServer {
  name: string;
  url: string;
  token: string;
  auth: ToolAuth;
  client: { client_id: string; client_secret: string } | null;
}

export const createToolServer = (body: NewToolServer) =>
  api<ToolServer>(servers, { method: "POST", body });

const connectionOf = (id: string) => `/api/tool-servers/${encodeURIComponent(id)}/connection`;

/** The pages from which one signs in at a server, and comes back to. */
export type SignInPage = "settings" | "organization";

export const beginToolSignIn = (id: string, page: SignInPage) =>
  api<{ url: string }>(connectionOf(id), { method: "POST", body: { page } });

export const disconnectTool = (id: string) => api<void>(connectionOf(id), { method: "DELETE" });

export const stopToolCalls = (conversationId: string) =>
  api<void>(`/api/conversations/${encodeURIComponent(conversationId)}/tool-calls/stop`, {
    method: "POST",
  });

export type SearchProvider = "searxng" | "brave" | "tavily";

export const createWebSearch = (body: { provider: SearchProvider; url: string; token: string }) =>
  api<ToolServer>("/api/organization/web-search", { method: "POST", body });

export interface ToolRule {
  name: string;
  allowed: boolean;
  needs_approval: boolean;
  /** Of the definition that was looked at. */
  fingerprint: string;
}

interface ServerChange {
  enabled?: boolean;
  /** Another one: the server is off until it has answered there. */
  url?: string;
  token?: string;
  tools?: ToolRule[];
}

export const patchToolServer = (id: string, body: ServerChange) =>
  api<ToolServer>(at(id), { method: "PATCH", body });

export const deleteToolServer = (id: string) => api<void>(at(id), { method: "DELETE" });

export const checkToolServer = (id: string) =>
  api<ToolServer>(`${at(id)}/check`, { method: "POST" });

export const getMyTools = () => api<MyTools>("/api/me/tools");

export const switchTools = (id: string, on: boolean) =>
  api<void>(`/api/me/tools/${encodeURIComponent(id)}`, { method: "PUT", body: { on } });

export const revokeGrant = (id: number) =>
  api<void>(`/api/me/tool-grants/${id}`, { method: "DELETE" });

export const listToolCalls = (conversationId: string) =>
  api<{ data: ToolCall[] }>(`/api/conversations/${encodeURIComponent(conversationId)}/tool-calls`);

/** A program of a call becomes this page's to run; 409 where it is another's, or nobody's. */
export const claimProgram = (id: string) =>
  api<ProgramRun>(`${callAt(id)}/run`, { method: "POST" });

export const renewProgram = (id: string, run_id: string) =>
  api<void>(`${callAt(id)}/run`, { method: "PUT", body: { run_id } });

export const releaseProgram = (id: string, run_id: string) =>
  api<void>(`${callAt(id)}/release`, { method: "POST", body: { run_id }, keepalive: true });

export const postProgramResult = (id: string, body: ProgramResult) =>
  api<ToolCall>(`${callAt(id)}/result`, { method: "POST", body });

const callAt = (id: string) => `/api/tool-calls/${encodeURIComponent(id)}`;

export type Decision = "once" | "chat" | "always" | "deny";

export const decideToolCall = (id: string, decision: Decision) =>
  api<ToolCall>(`/api/tool-calls/${encodeURIComponent(id)}/decision`, {
    method: "POST",
    body: { decision },
  });
