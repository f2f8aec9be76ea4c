import type { MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type BulkAction, eraseTrash, postBulk } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import { conversationKey, readAgain, refreshLists, stopReading } from "@/chat/cache";
import { forgetAnswer } from "@/chat/turns";
import { toast } from "@/ui/toast";

const DONE: Record<BulkAction, MessageDescriptor> = {
  archive: msg({ message: "Archived", context: "chats" }),
  unarchive: msg({ message: "No longer archived", context: "chats" }),
  delete: msg({ message: "In the trash", context: "chats" }),
  restore: msg({ message: "Restored", context: "chats" }),
};

/**
 * What can be done to several chats at once. Each says what was done or why it was not, and
 * resolves to whether it was.
 */
export function useChatChanges() {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const during = async (work: () => Promise<void>): Promise<boolean> => {
    setBusy(true);
    try {
      await work();
      return true;
    } catch (error) {
      toast(errorMessage(error));
      return false;
    } finally {
      setBusy(false);
      refreshLists(client);
    }
  };
  return {
    busy,
    change: (ids: string[], action: BulkAction) =>
      during(() => (action === "delete" ? remove(client, ids) : changeAll(client, ids, action))),
    erase: (ids: string[] | "all") =>
      during(async () => {
        const { erased, generating } = await eraseTrash(ids);
        toast(t`Deleted for good: ${plural(erased, { one: "# chat", other: "# chats" })}.`);
        if (generating > 0) {
          toast(
            plural(generating, {
              one: "# chat is still in the trash: an answer is being written in it.",
              other: "# chats are still in the trash: answers are being written in them.",
            }),
          );
        }
      }),
  };
}

async function changeAll(client: QueryClient, ids: string[], action: BulkAction) {
  const { changed } = await postBulk(ids, action);
  if (action === "restore") for (const id of ids) readAgain(client, id);
  toast(doneText(action, changed));
}

/** Into the trash, from where Undo takes them all back. */
async function remove(client: QueryClient, ids: string[]) {
  await Promise.all(ids.map((id) => stopReading(client, id)));
  let changed: number;
  try {
    ({ changed } = await postBulk(ids, "delete"));
  } catch (error) {
    for (const id of ids) readAgain(client, id);
    throw error;
  }
  for (const id of ids) {
    forgetAnswer(id);
    client.removeQueries({ queryKey: conversationKey(id) });
  }
  toast(doneText("delete", changed), {
    label: t`Undo`,
    onClick: () => {
      changeAll(client, ids, "restore")
        .catch((error) => toast(errorMessage(error)))
        .finally(() => refreshLists(client));
    },
  });
}

function doneText(action: BulkAction, changed: number): string {
  const done = t(DONE[action]);
  return t`${done}: ${plural(changed, { one: "# chat", other: "# chats" })}.`;
}
