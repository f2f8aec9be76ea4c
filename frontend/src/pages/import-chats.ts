/** An export of chats, read in the browser and sent in parts that the server takes. */
import { t } from "@lingui/core/macro";
import { postImport } from "@/api/conversations";
import type { ImportPart } from "@/api/types";

export const MAX_FILE_BYTES = 300 * 1024 * 1024;
const MAX_PART_BYTES = 1_500_000;
/** The server takes 4 MiB in one request. */
const MAX_CHAT_BYTES = 3_900_000;
const MAX_PART_CHATS = 50;

export interface ImportProgress {
  total: number;
  done: number;
  imported: number;
  present: number;
  /** Titles of what was not taken, and why. */
  refused: { title: string; reason: string }[];
}

/** Says to the reader what is wrong with their file. */
export class FileRefused extends Error {}

/** The chats of an export. Throws a FileRefused that says what is wrong with the text. */
export function chatsIn(text: string): unknown[] {
  let value: unknown;
  try {
    // PostgreSQL stores no null characters, and the server refuses them.
    value = JSON.parse(text.replaceAll("\\u0000", ""));
  } catch {
    throw new FileRefused(
      t`This is no JSON file. Unpack the archive and choose conversations.json in it.`,
    );
  }
  const chats = Array.isArray(value)
    ? value
    : (value as { conversations?: unknown } | null)?.conversations;
  if (!Array.isArray(chats)) throw new FileRefused(t`There are no conversations in this file.`);
  return chats;
}

/** Parts of at most MAX_PART_BYTES each, a larger chat alone in one. */
export function inParts(chats: unknown[]): unknown[][] {
  const parts: unknown[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const chat of chats) {
    const size = sizeOf(chat);
    if (bytes + size > MAX_PART_BYTES || (parts.at(-1)?.length ?? 0) >= MAX_PART_CHATS) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(chat);
    bytes += size;
  }
  return parts;
}

/**
 * Sends all chats, part by part; what was sent before a failure stays, and is known on a second try.
 *
 * Args:
 *   send: one part; the API's answer.
 */
export async function importChats(
  chats: unknown[],
  onProgress: (progress: ImportProgress) => void,
  send: (part: unknown[]) => Promise<ImportPart> = postImport,
): Promise<ImportProgress> {
  const small = chats.filter((chat) => sizeOf(chat) <= MAX_CHAT_BYTES);
  let progress: ImportProgress = {
    total: chats.length,
    done: chats.length - small.length,
    imported: 0,
    present: 0,
    refused: chats
      .filter((chat) => sizeOf(chat) > MAX_CHAT_BYTES)
      .map((chat) => ({ title: titleOf(chat), reason: t`It is larger than 4 MB.` })),
  };
  onProgress(progress);
  for (const part of inParts(small)) {
    const answer = await send(part);
    progress = {
      ...progress,
      done: progress.done + part.length,
      imported: progress.imported + answer.imported,
      present: progress.present + answer.present,
      refused: [
        ...progress.refused,
        ...answer.refused.map(({ place, reason }) => ({ title: titleOf(part[place]), reason })),
      ],
    };
    onProgress(progress);
  }
  return progress;
}

const sizeOf = (chat: unknown): number => new Blob([JSON.stringify(chat) ?? ""]).size;

function titleOf(chat: unknown): string {
  const { title, name } = (chat ?? {}) as { title?: unknown; name?: unknown };
  const text = title || name;
  return typeof text === "string" ? text.slice(0, 80) : t`Untitled`;
}
