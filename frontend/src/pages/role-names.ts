import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Role } from "@/api/types";

const names: Record<Role, MessageDescriptor> = {
  owner: msg({ message: "owner", context: "role" }),
  admin: msg({ message: "admin", context: "role" }),
  member: msg({ message: "member", context: "role" }),
  finance: msg({ message: "finance", context: "role" }),
  viewer: msg({ message: "viewer", context: "role" }),
};

/** A role within a line, as it is written there. */
export const roleName = (role: Role): string => i18n._(names[role]);
