/** Requests about what keeps the signed-in person's account safe. */
import { api } from "./client";
import { askForPasskey, createPasskey } from "./passkeys";
import type { MailSent, Me, Security, Session, TotpEnrolment } from "./types";

interface RecoveryCodes {
  recovery_codes: string[];
}

interface PasskeyOptions {
  options: { publicKey: unknown };
}

export const getSecurity = () => api<Security>("/api/me/security");

export const reauthenticate = (body: { password: string; code?: string }) =>
  api<void>("/api/me/reauthenticate", { method: "POST", body });

export async function reauthenticateByPasskey(): Promise<void> {
  const path = "/api/me/reauthenticate/passkey";
  const { options } = await api<PasskeyOptions>(`${path}/options`, { method: "POST" });
  const credential = await askForPasskey(options.publicKey);
  return api<void>(path, { method: "POST", body: { credential } });
}

export const changePassword = (password: string) =>
  api<void>("/api/me/password", { method: "POST", body: { password } });

export const changeEmail = (email: string) =>
  api<MailSent>("/api/me/email", { method: "POST", body: { email } });

export const beginTotp = () => api<TotpEnrolment>("/api/me/totp", { method: "POST" });

export const activateTotp = (code: string) =>
  api<RecoveryCodes>("/api/me/totp", { method: "PUT", body: { code } });

export const removeTotp = () => api<void>("/api/me/totp", { method: "DELETE" });

export const renewRecoveryCodes = () =>
  api<RecoveryCodes>("/api/me/recovery-codes", { method: "POST" });

/** Asks the browser for a new passkey and keeps it. */
export async function addPasskey(name: string): Promise<RecoveryCodes> {
  const { options } = await api<PasskeyOptions>("/api/me/passkeys/options", { method: "POST" });
  const credential = await createPasskey(options.publicKey);
  return api<RecoveryCodes>("/api/me/passkeys", { method: "POST", body: { name, credential } });
}

export const removePasskey = (id: number) =>
  api<void>(`/api/me/passkeys/${id}`, { method: "DELETE" });

/** Signs in with a passkey that the browser has for this site. */
export async function signInWithPasskey(): Promise<Me> {
  const { options } = await api<PasskeyOptions>("/api/auth/passkey/options", { method: "POST" });
  const credential = await askForPasskey(options.publicKey);
  return api<Me>("/api/auth/passkey", { method: "POST", body: { credential } });
}

export const listSessions = () =>
  api<{ data: Session[] }>("/api/me/sessions").then((page) => page.data);

export const endSession = (id: number) => api<void>(`/api/me/sessions/${id}`, { method: "DELETE" });

export const endAllSessions = () => api<void>("/api/me/sessions", { method: "DELETE" });

export const deleteAccount = () => api<void>("/api/me", { method: "DELETE" });
