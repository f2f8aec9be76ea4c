/** Shows a comparison that the server knows of and this tab does not: after a reload, say. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Conversation, Message, Part } from "@/api/types";
import { refreshConversation, refreshLists } from "./cache";
import { follow } from "./compare";
import { type Column, comparisonOf, forgetComparison, putComparison } from "./comparison";
import { leaveAnswer, newAnswer } from "./turns";

type Stored = NonNullable<Conversation["comparison"]>;
type StoredAnswer = Stored["answers"][number];

/** Keeps what is shown of a comparison in step with what is stored of it. */
export function useRestoredComparison(conversation: Conversation | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!conversation) return;
    const { id, comparison, messages } = conversation;
    const shown = comparisonOf(id);
    if (!comparison) {
      // Another tab has gone on with an answer.
      if (shown?.restored) forgetComparison(id);
      return;
    }
    if (shown && !shown.restored) return;
    const added = restore(id, comparison, messages);
    if (added.length === 0) return;
    void Promise.all(added.map((index) => follow(id, index, null))).then(async () => {
      if (!comparisonOf(id)) return;
      await refreshConversation(client, id).catch(() => null);
      refreshLists(client);
    });
  }, [client, conversation]);
}

/** Puts columns for the answers that have none; returns the places of those that still come. */
function restore(conversationId: string, stored: Stored, messages: Message[]): number[] {
  const shown = comparisonOf(conversationId);
  const known = new Set(shown?.columns.map(({ live }) => live.messageId));
  // One without a generation is not admitted yet: an event says when it is.
  const fresh = stored.answers.filter(
    (answer) => !known.has(answer.id) && (answer.generation_id || answer.status !== "pending"),
  );
  if (fresh.length === 0) return [];
  leaveAnswer(conversationId);
  const columns = [...(shown?.columns ?? []), ...fresh.map((one) => columnOf(stored, one))];
  putComparison(conversationId, {
    parentId: messages.find(({ id }) => id === stored.prompt_id)?.parent_id ?? null,
    sent: { parts: [], at: "", key: "" },
    promptId: stored.prompt_id,
    restored: true,
    abort: new AbortController(),
    ...shown,
    columns,
  });
  return columns.flatMap(({ ended }, index) =>
    ended || index < columns.length - fresh.length ? [] : [index],
  );
}

function columnOf({ prompt_id }: Stored, answer: StoredAnswer): Column {
  const { status } = answer;
  const failed = status === "failed" || status === "blocked";
  const live = newAnswer({
    userMessageId: prompt_id,
    messageId: answer.id,
    generationId: answer.generation_id,
    model: answer.model,
    // A stream that is joined is read from its beginning.
    parts: status === "pending" ? [] : (answer.parts as Part[]),
    phase: failed ? "failed" : "streaming",
  });
  return { live, ended: status !== "pending", stopped: status === "cancelled" };
}
