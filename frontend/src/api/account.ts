/** Requests about the signed-in person, models, keys and usage. */
import type { Language } from "@/lib/locale";
import { api, withQuery } from "./client";
import { ApiError } from "./errors";
import type {
  Announcement,
  ApiKey,
  MailSent,
  Me,
  ModelList,
  NewApiKey,
  Scope,
  SecondFactorNeeded,
  SignedOut,
  UsageGroup,
  UsageSummary,
} from "./types";

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
  /** Of an invitation's link, which the new account joins by. */
  invitation?: string;
}

export const signUp = (body: Credentials) =>
  api<MailSent>("/api/auth/signup", { method: "POST", body });

export const confirmSignUp = (body: { token: string; password?: string }) =>
  api<Me>("/api/auth/signup/confirm", { method: "POST", body });

/** The signed-in user, or the second factors of which one is still asked for. */
export const signIn = (body: Credentials) =>
  api<Me | SecondFactorNeeded>("/api/auth/login", { method: "POST", body });

export const giveSecondFactor = (code: string) =>
  api<Me>("/api/auth/second-factor", { method: "POST", body: { code } });

export const askForReset = (email: string) =>
  api<MailSent>("/api/auth/password-reset", { method: "POST", body: { email } });

export const resetPassword = (body: { token: string; password: string; revoke_keys: boolean }) =>
  api<void>("/api/auth/password-reset/confirm", { method: "POST", body });

export const confirmAddress = (body: { token: string; password?: string }) =>
  api<void>("/api/auth/address/confirm", { method: "POST", body });

export const stopAddressChange = (token: string) =>
  api<void>("/api/auth/address/stop", { method: "POST", body: { token } });

/** Signed out here; on to the identity provider where it began the session and has a page for it. */
export async function signOut(go: (url: string) => void = (url) => window.location.assign(url)) {
  const elsewhere = await api<SignedOut | undefined>("/api/auth/logout", { method: "POST" });
  if (elsewhere) go(elsewhere.url);
}

export const patchMe = (body: {
  name?: string;
  organization_id?: string;
  language?: Language | "";
}) => api<Me>("/api/me", { method: "PATCH", body });

export const acceptTerms = (versions: number[]) =>
  api<Me>("/api/me/terms", { method: "POST", body: { versions } });

/** What the operator has to say to this user, newest first. */
export const listAnnouncements = () =>
  api<{ data: Announcement[] }>("/api/announcements").then((page) => page.data);

export const dismissAnnouncement = (id: number) =>
  api<void>(`/api/announcements/${id}/dismiss`, { method: "POST" });

/** The models that are served, the default first, and those on their way. */
export const listModels = () => api<ModelList>("/api/models");

export const listKeys = (cursor: string | null) =>
  api<{ data: ApiKey[]; next_cursor: string | null }>(withQuery("/api/keys", { cursor }));

export interface KeyRequest {
  name: string;
  expires_at?: string;
  project_id?: string;
  scopes?: Scope[];
}

export const createKey = (body: KeyRequest) =>
  api<NewApiKey>("/api/keys", { method: "POST", body });

export const revokeKey = (id: string) => api<void>(`/api/keys/${id}`, { method: "DELETE" });

export const getUsage = (period: string, groupBy: UsageGroup, projectId: string) =>
  api<UsageSummary>(withQuery("/api/usage", { period, group_by: groupBy, project_id: projectId }));
