/** What the messages of a thread can do, handed down by the page that owns the conversation. */
import { useAuiState } from "@assistant-ui/react";
import { createContext, use } from "react";
import type { Feedback } from "@/api/types";
import type { ViewMessage } from "./view";

export interface ThreadActions {
  /** Another answer in place of `message`. */
  regenerate: (message: ViewMessage) => void;
  /** Shows the branch that `messageId` is on. */
  switchBranch: (messageId: string) => void;
  giveFeedback: (message: ViewMessage, feedback: Feedback | null) => void;
  /** Sends a refused turn once more. */
  retry: () => void;
  /** Takes a refused turn off the page. */
  dismiss: () => void;
  /** False on the public page of a shared conversation. */
  canEdit: boolean;
}

export const ThreadActionsContext = createContext<ThreadActions | null>(null);

export function useThreadActions(): ThreadActions {
  const actions = use(ThreadActionsContext);
  if (!actions) throw new Error("useThreadActions needs a ThreadActionsContext above it");
  return actions;
}

/** The message that the surrounding row shows. */
export function useViewMessage(): ViewMessage {
  return useAuiState((state) => state.message.metadata.custom.view as ViewMessage);
}
