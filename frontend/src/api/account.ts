/** Requests about the signed-in person, models, keys and usage. */
import { api, withQuery } from "./client";
import { ApiError } from "./errors";
import type { ApiKey, Me, Model, NewApiKey, UsageGroup, UsageSummary } from "./types";

/** The signed-in person, or null; the first question of every page load. */
export async function getMe(): Promise<Me | null> {
  try {
    return await api<Me>("/api/me");
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

export interface Credentials {
  email: string;
  password: string;
  name?: string;
}

export const signUp = (body: Credentials) => api<Me>("/api/auth/signup", { method: "POST", body });

export const signIn = (body: Credentials) => api<Me>("/api/auth/login", { method: "POST", body });

export const signOut = () => api<void>("/api/auth/logout", { method: "POST" });

export const patchMe = (body: { name?: string; organization_id?: string }) =>
  api<Me>("/api/me", { method: "PATCH", body });

export const listModels = () => api<{ data: Model[] }>("/api/models").then((page) => page.data);

export const listKeys = () => api<{ data: ApiKey[] }>("/api/keys").then((page) => page.data);

export const createKey = (body: { name: string; expires_at?: string }) =>
  api<NewApiKey>("/api/keys", { method: "POST", body });

export const revokeKey = (id: string) => api<void>(`/api/keys/${id}`, { method: "DELETE" });

export const getUsage = (period: string, groupBy: UsageGroup) =>
  api<UsageSummary>(withQuery("/api/usage", { period, group_by: groupBy }));
