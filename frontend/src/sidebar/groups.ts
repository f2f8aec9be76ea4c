import { t } from "@lingui/core/macro";
import type { ConversationSummary } from "@/api/types";
import { dateGroup } from "@/lib/time";

export interface Group {
  label: string;
  rows: ConversationSummary[];
}

/** Rows under their headings: the pinned ones first, then by the day of the last message. */
export function groupConversations(rows: ConversationSummary[], now: Date): Group[] {
  const pinned = rows.filter((row) => row.pinned);
  const groups: Group[] = pinned.length > 0 ? [{ label: t`Pinned`, rows: pinned }] : [];
  for (const row of rows) {
    if (row.pinned) continue;
    const label = dateGroup(row.updated_at, now);
    const last = groups.at(-1);
    if (last?.label === label) last.rows.push(row);
    else groups.push({ label, rows: [row] });
  }
  return groups;
}
