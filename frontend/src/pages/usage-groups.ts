import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { UsageGroup, UsageRow } from "@/api/types";

const names: Record<UsageGroup, MessageDescriptor> = {
  day: msg`Day`,
  model: msg`Model`,
  key: msg({ message: "Key", context: "of the API" }),
  user: msg({ message: "Member", context: "role" }),
  project: msg`Project`,
};

/** What usage is grouped by. */
export const groupName = (group: UsageGroup): string => i18n._(names[group]);

/** Groups to choose from. */
export const groupOptions = (groups: readonly UsageGroup[]) =>
  groups.map((value) => ({ value, label: groupName(value) }));

/** What a row stands for, where it is no day; what no key has asked came from the chat page. */
export const rowName = (row: UsageRow): string => row.label || row.key || t`Chat page`;
