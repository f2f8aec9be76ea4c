import { t } from "@lingui/core/macro";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useMatch, useNavigate } from "react-router";
import {
  type ConversationPatch,
  deleteConversation,
  patchConversation,
  restoreConversation,
} from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { Conversation, ConversationSummary } from "@/api/types";
import { changeShown, conversationKey, readAgain, refreshLists, stopReading } from "@/chat/cache";
import { forgetAnswer } from "@/chat/turns";
import { toast } from "@/ui/toast";

/** What a row can do. Each shows at once, and is taken back when the server refuses. */
export function useConversationActions() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const shownId = useMatch("/c/:id")?.params.id;

  return useMemo(() => {
    const leave = (id: string) => {
      if (id === shownId) void navigate("/");
    };
    return {
      rename: (row: ConversationSummary, title: string) =>
        change(client, row, { title }, (shown) => ({ ...shown, title })),
      pin: (row: ConversationSummary, pinned: boolean) =>
        change(client, row, { pinned }, (shown) => ({ ...shown, pinned })),
      archive: async (row: ConversationSummary, archived: boolean) => {
        if (archived) leave(row.id);
        const done = await change(client, row, { archived }, () => null);
        if (!done) return;
        toast(archived ? t`Conversation archived.` : t`Conversation is back in the list.`, {
          label: t`Undo`,
          onClick: () => void change(client, row, { archived: !archived }, () => null),
        });
      },
      remove: async (row: ConversationSummary) => {
        const wasShown = row.id === shownId;
        forgetAnswer(row.id);
        const takeBack = await changeShown(client, row.id, {}, () => null);
        leave(row.id);
        await stopReading(client, row.id);
        try {
          await deleteConversation(row.id);
        } catch (error) {
          readAgain(client, row.id);
          takeBack();
          toast(errorMessage(error));
          return;
        }
        client.removeQueries({ queryKey: conversationKey(row.id) });
        toast(t`Conversation deleted.`, {
          label: t`Undo`,
          onClick: () => {
            restoreConversation(row.id)
              .then(() => {
                readAgain(client, row.id);
                refreshLists(client);
                if (wasShown) void navigate(`/c/${row.id}`);
              })
              .catch((error) => toast(errorMessage(error)));
          },
        });
      },
    };
  }, [client, navigate, shownId]);
}

async function change(
  client: QueryClient,
  row: ConversationSummary,
  patch: ConversationPatch,
  show: (row: ConversationSummary) => ConversationSummary | null,
): Promise<boolean> {
  const takeBack = await changeShown(client, row.id, shownOf(patch), show);
  try {
    await patchConversation(row.id, patch);
    return true;
  } catch (error) {
    takeBack();
    toast(errorMessage(error));
    return false;
  } finally {
    refreshLists(client);
  }
}

/** What an open chat shows of a change. */
function shownOf({ title, pinned, archived }: ConversationPatch): Partial<Conversation> {
  return {
    ...(title !== undefined && { title }),
    ...(pinned !== undefined && { pinned }),
    ...(archived !== undefined && { archived }),
  };
}
