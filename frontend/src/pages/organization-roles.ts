/** The roles of an organization, in the reader's language. */
import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Role } from "@/api/types";

/** A role by itself, as a choice. */
const NAMES: Record<Role, MessageDescriptor> = {
  owner: msg({ message: "Owner", context: "role" }),
  admin: msg({ message: "Admin", context: "role" }),
  member: msg({ message: "Member", context: "role" }),
  finance: msg({ message: "Finance", context: "role" }),
  viewer: msg({ message: "Viewer", context: "role" }),
};

/** A role within a line. */
const WORDS: Record<Role, MessageDescriptor> = {
  owner: msg({ message: "owner", context: "role" }),
  admin: msg({ message: "admin", context: "role" }),
  member: msg({ message: "member", context: "role" }),
  finance: msg({ message: "finance", context: "role" }),
  viewer: msg({ message: "viewer", context: "role" }),
};

export const roles = Object.keys(NAMES) as Role[];

export const roleName = (role: Role): string => t(NAMES[role]);

/** What a select offers. */
export const roleOptions = (): { value: Role; label: string }[] =>
  roles.map((role) => ({ value: role, label: roleName(role) }));

/** "owner"; a role that this page does not know stays as the API has it. */
export function roleWord(role: string): string {
  const word = (WORDS as Record<string, MessageDescriptor>)[role];
  return word ? t(word) : role;
}
