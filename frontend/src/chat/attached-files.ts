import type { QueryClient } from "@tanstack/react-query";
import { getAttachment } from "@/api/conversations";
import { LARGEST_FILES_BYTES, type NamedFile } from "@/python-frame/messages";
import { type ConversationData, conversationKey } from "./cache";
import { loadedMessages } from "./view";

/**
 * The files of the messages that are shown, for a program: of two with one name the later one. One
 * that cannot be read, or is too much, is left out.
 */
export async function attachedFiles(
  client: QueryClient,
  conversationId: string,
): Promise<NamedFile[]> {
  const pages = client.getQueryData<ConversationData>(conversationKey(conversationId))?.pages ?? [];
  const ids = new Map<string, string>();
  for (const { parts } of loadedMessages(pages)) {
    for (const part of parts) {
      if ("attachment_id" in part) ids.set(part.filename ?? part.attachment_id, part.attachment_id);
    }
  }
  const read = await Promise.all(
    [...ids].map(async ([name, id]) => ({
      name,
      bytes: await getAttachment(id).catch(() => null),
    })),
  );
  let left = LARGEST_FILES_BYTES;
  return read.flatMap(({ name, bytes }) => {
    if (!bytes || bytes.length > left) return [];
    left -= bytes.length;
    return [{ name, bytes }];
  });
}
