/** Requests about how people come into an organization, and its audit log. */
import { api, withQuery } from "./client";
import type {
  AllowedNetworks,
  AuditPage,
  Directory,
  GroupRule,
  GroupRules,
  ProviderMetadata,
  SignInPolicy,
  SignInProvider,
  SignInUpdate,
} from "./types";

const base = "/api/organization";

/** Where the browser goes to sign in through the organization of this address, and then to `next`. */
export const startSignIn = ({ email, next }: { email: string; next: string }) =>
  api<{ url: string }>("/api/auth/sso", { method: "POST", body: { email, next } });

export const getProvider = () => api<SignInProvider>(`${base}/sso`);

export const putProvider = (body: SignInUpdate) =>
  api<SignInProvider>(`${base}/sso`, { method: "PUT", body });

/** What a SAML provider's metadata says: its address or the XML itself. */
export const readMetadata = (metadata: string) =>
  api<ProviderMetadata>(`${base}/sso/metadata`, { method: "POST", body: { metadata } });

export const deleteProvider = () => api<void>(`${base}/sso`, { method: "DELETE" });

/** The provider gives people other subjects: the next sign-in links them by address. */
export const forgetIdentities = () => api<void>(`${base}/sso/identities`, { method: "DELETE" });

export const getSignInPolicy = () => api<SignInPolicy>(`${base}/sign-in-policy`);

export const putSignInPolicy = (requiresSecondFactor: boolean) =>
  api<SignInPolicy>(`${base}/sign-in-policy`, {
    method: "PUT",
    body: { requires_second_factor: requiresSecondFactor },
  });

export const getDirectory = () => api<Directory>(`${base}/scim`);

export const createDirectoryToken = () =>
  api<{ token: string; url: string }>(`${base}/scim`, { method: "POST" });

export const deleteDirectoryToken = () => api<void>(`${base}/scim`, { method: "DELETE" });

export const getGroupRules = () => api<GroupRules>(`${base}/group-rules`);

export const putGroupRules = (rules: GroupRule[]) =>
  api<GroupRules>(`${base}/group-rules`, { method: "PUT", body: { rules } });

export const getNetworks = () => api<AllowedNetworks>(`${base}/ip-allow-list`);

export interface NetworksChange {
  networks: { cidr: string; note: string; for_directory: boolean }[];
  confirm_lockout: boolean;
}

export const putNetworks = (body: NetworksChange) =>
  api<AllowedNetworks>(`${base}/ip-allow-list`, { method: "PUT", body });

export const listAuditEvents = (action: string, after: string | null) =>
  api<AuditPage>(withQuery("/api/audit-log", { action, after }));

export const listAuditActions = () =>
  api<{ data: string[] }>("/api/audit-log/actions").then((page) => page.data);

/** Where the browser downloads all of it as JSON lines. */
export const auditExportPath = (action: string) => withQuery("/api/audit-log/export", { action });
