/** Requests about an organization's people, invitations, domains and projects. */
import { t } from "@lingui/core/macro";
import { api, withQuery } from "./client";
import type {
  ApiKey,
  Invitation,
  InvitationOffer,
  JoinOffer,
  JoinRequest,
  Me,
  Member,
  NewInvitation,
  NewServiceAccount,
  OrganizationDetail,
  OrganizationDomain,
  Project,
  ProjectLimit,
  ProjectMember,
  ProjectView,
  Role,
  ServiceAccount,
  SharedFile,
} from "./types";

export interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

/** As backend/accounts/roles.py has it. */
export const managesPeople = (role: Role) => role === "owner" || role === "admin";

const organization = "/api/organization";

export const getOrganization = () => api<OrganizationDetail>(organization);

export const renameOrganization = (name: string) =>
  api<OrganizationDetail>(organization, { method: "PATCH", body: { name } });

export const transferOwnership = (userId: string) =>
  api<void>(`${organization}/owner`, { method: "POST", body: { user_id: userId } });

const page =
  <Row>(path: string) =>
  (cursor: string | null) =>
    api<Page<Row>>(withQuery(path, { cursor }));

export const listMembers = page<Member>(`${organization}/members`);

export const setMemberRole = (userId: string, role: Role) =>
  api<Member>(`${organization}/members/${userId}`, { method: "PATCH", body: { role } });

export interface Removal {
  chats: "keep" | "hand_over" | "delete";
  chats_to?: string;
  keys: "revoke" | "service_account";
}

export const removeMember = (userId: string, removal: Removal) =>
  api<void>(`${organization}/members/${userId}/remove`, { method: "POST", body: removal });

export const listInvitations = page<Invitation>(`${organization}/invitations`);

export const createInvitation = (body: { role: Role; email?: string; max_uses?: number }) =>
  api<NewInvitation>(`${organization}/invitations`, { method: "POST", body });

export const revokeInvitation = (id: string) =>
  api<void>(`${organization}/invitations/${id}`, { method: "DELETE" });

export const readInvitation = (token: string) =>
  api<InvitationOffer>("/api/auth/invitation", { method: "POST", body: { token } });

export const acceptInvitation = (token: string) =>
  api<Me>("/api/me/invitations", { method: "POST", body: { token } });

export const getJoinOffer = () => api<JoinOffer>("/api/me/join-offer");

export const takeJoinOffer = () =>
  api<{ joined: boolean }>("/api/me/join-offer", { method: "POST" });

export const listDomains = page<OrganizationDomain>(`${organization}/domains`);

export const addDomain = (domain: string) =>
  api<OrganizationDomain>(`${organization}/domains`, { method: "POST", body: { domain } });

export const setDomainJoin = (id: string, join: OrganizationDomain["join"]) =>
  api<OrganizationDomain>(`${organization}/domains/${id}`, { method: "PATCH", body: { join } });

export const verifyDomain = (id: string) =>
  api<OrganizationDomain>(`${organization}/domains/${id}/verify`, { method: "POST" });

export const deleteDomain = (id: string) =>
  api<void>(`${organization}/domains/${id}`, { method: "DELETE" });

export const listJoinRequests = page<JoinRequest>(`${organization}/join-requests`);

export const acceptJoinRequest = (id: string) =>
  api<void>(`${organization}/join-requests/${id}/accept`, { method: "POST" });

export const declineJoinRequest = (id: string) =>
  api<void>(`${organization}/join-requests/${id}`, { method: "DELETE" });

const projects = "/api/projects";

/** As it is called until somebody renames it (backend/accounts/services.py). */
const DEFAULT_NAME = "Default";

/** A project by its name; the default one in the reader's language. */
export function projectName({ is_default, name }: Pick<Project, "is_default" | "name">): string {
  return is_default && name === DEFAULT_NAME ? t({ message: "Default", context: "project" }) : name;
}

export const listProjects = page<Project>(projects);

/** All that may be used, for whoever chooses one; an organization has 1,000 at most. */
export async function allProjects(): Promise<Project[]> {
  const found: Project[] = [];
  let cursor: string | null = null;
  do {
    const next: Page<Project> = await api(withQuery(projects, { cursor, limit: 100 }));
    found.push(...next.data);
    cursor = next.next_cursor;
  } while (cursor);
  return found.filter((project) => !project.archived_at);
}

export const createProject = (name: string) =>
  api<Project>(projects, { method: "POST", body: { name } });

export const getProject = (id: string) => api<ProjectView>(`${projects}/${id}`);

export const updateProject = (
  id: string,
  body: {
    name?: string;
    allowed_models?: string[];
    retention_days?: number | null;
    logs_requests?: boolean;
    instructions?: string;
  },
) => api<Project>(`${projects}/${id}`, { method: "PATCH", body });

export const archiveProject = (id: string) =>
  api<Project>(`${projects}/${id}/archive`, { method: "POST" });

export const listProjectMembers = (id: string) => page<ProjectMember>(`${projects}/${id}/members`);

export const addProjectMember = (id: string, userId: string) =>
  api<ProjectMember>(`${projects}/${id}/members`, { method: "POST", body: { user_id: userId } });

export const setProjectRole = (id: string, userId: string, role: "owner" | "member") =>
  api<ProjectMember>(`${projects}/${id}/members/${userId}`, { method: "PATCH", body: { role } });

export const removeProjectMember = (id: string, userId: string) =>
  api<void>(`${projects}/${id}/members/${userId}`, { method: "DELETE" });

export const listServiceAccounts = (id: string) =>
  page<ServiceAccount>(`${projects}/${id}/service-accounts`);

export const createServiceAccount = (id: string, name: string) =>
  api<NewServiceAccount>(`${projects}/${id}/service-accounts`, { method: "POST", body: { name } });

export const deleteServiceAccount = (id: string, accountId: string) =>
  api<void>(`${projects}/${id}/service-accounts/${accountId}`, { method: "DELETE" });

export const listProjectFiles = (id: string) =>
  api<{ data: SharedFile[] }>(`${projects}/${id}/files`).then((list) => list.data);

export const addProjectFile = (id: string, attachmentId: string) =>
  api<SharedFile>(`${projects}/${id}/files`, {
    method: "POST",
    body: { attachment_id: attachmentId },
  });

export const removeProjectFile = (id: string, fileId: string) =>
  api<void>(`${projects}/${id}/files/${fileId}`, { method: "DELETE" });

export const listProjectKeys = (id: string) => page<ApiKey>(`${projects}/${id}/keys`);

export const listProjectLimits = (id: string) =>
  api<{ data: ProjectLimit[] }>(`${projects}/${id}/rate-limits`).then((list) => list.data);

export const setProjectLimit = (
  id: string,
  model: string,
  body: { requests_per_minute: number; tokens_per_minute: number },
) => api<ProjectLimit>(`${projects}/${id}/rate-limits/${model}`, { method: "PUT", body });

export const deleteProjectLimit = (id: string, model: string) =>
  api<void>(`${projects}/${id}/rate-limits/${model}`, { method: "DELETE" });
