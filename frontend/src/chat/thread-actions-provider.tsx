import { t } from "@lingui/core/macro";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useMemo, useRef } from "react";
import { patchConversation, putFeedback } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { Message } from "@/api/types";
import { toast } from "@/ui/toast";
import { patchMessage, refreshConversation } from "./cache";
import { useComposing } from "./composing";
import { usePutBack } from "./draft-keeper";
import { liveAnswer } from "./live";
import { sendAgain, sendTurn } from "./send-turn";
import { type ThreadActions, ThreadActionsContext } from "./thread-actions";
import { continueAnswer, dismissFailure, regenerate } from "./turns";
import type { LiveAnswer } from "./view";

interface ThreadActionsProviderProps {
  conversationId: string | undefined;
  model: string;
  running: boolean;
  children: ReactNode;
}

const warn = (error: unknown) => toast(errorMessage(error));

/** Gives the messages of a thread what they can do. Stands inside the ChatRuntime. */
export function ThreadActionsProvider(props: ThreadActionsProviderProps) {
  const { conversationId: id = "", model, running, children } = props;
  const client = useQueryClient();
  const composing = useComposing();
  const putBack = usePutBack();
  const feedbackStored = useRef<Promise<void>>(Promise.resolve());

  const actions = useMemo<ThreadActions>(
    () => ({
      running,
      edit: ({ parent_id }, parts) =>
        void sendTurn(client, { conversationId: id, parts, parentId: parent_id, model }),
      regenerate: (message, other) => void regenerate(client, id, message, other ?? model),
      continueAnswer: (message) => void continueAnswer(client, id, message),
      switchBranch: (messageId) => {
        patchConversation(id, { active_message_id: messageId })
          .then(() => refreshConversation(client, id))
          .catch(warn);
      },
      giveFeedback: (message, feedback) => {
        void patchMessage(client, id, message.id, { feedback });
        const store = () => putFeedback(message.id, feedback?.rating ?? null, feedback?.comment);
        // One after the other: the thumb alone must not arrive after the thumb with its comment.
        feedbackStored.current = feedbackStored.current.then(store).then(
          () => {
            if (feedback?.comment) toast(t`Thank you for your feedback.`);
          },
          (error) => {
            void patchMessage(client, id, message.id, { feedback: message.feedback });
            warn(error);
          },
        );
      },
      retry: () => {
        const failed = liveAnswer(id);
        if (!failed) return;
        void refreshConversation(client, id)
          .then(({ messages }) => {
            const answer = messages.find((message) => isAnswerOf(message, failed));
            if (answer) return regenerate(client, id, answer, model);
            if (failed.sent) return sendAgain(client, id, failed, failed.sent, model);
            dismissFailure(id);
          })
          .catch(warn);
      },
      dismiss: () => {
        const sent = liveAnswer(id)?.sent;
        dismissFailure(id);
        // Nothing is lost: words and files are back where they came from.
        if (sent && composing.isEmpty) putBack(sent.parts);
      },
    }),
    [client, id, model, running, composing, putBack],
  );
  return <ThreadActionsContext value={actions}>{children}</ThreadActionsContext>;
}

/** The stored answer that a failed turn left, if it left any. */
function isAnswerOf(message: Message, failed: LiveAnswer): boolean {
  if (failed.messageId) return message.id === failed.messageId;
  return (
    failed.sent === null && message.role === "assistant" && message.parent_id === failed.parentId
  );
}
