/** What the messages of a thread can do, handed down by the page that owns the conversation. */
import { createContext, use } from "react";
import type { Feedback, Part } from "@/api/types";
import type { ViewMessage } from "./view";

export interface ThreadActions {
  /** An answer is on its way: nothing else can be started. */
  running: boolean;
  /** Sends `parts` in place of `message`, as a branch of its own. */
  edit: (message: ViewMessage, parts: Part[]) => void;
  /** Another answer in place of `message`, by the chosen model or by `model`. */
  regenerate: (message: ViewMessage, model?: string) => void;
  /** Goes on where `message` was cut short. */
  continueAnswer: (message: ViewMessage) => void;
  /** Shows the branch that `messageId` is on. */
  switchBranch: (messageId: string) => void;
  giveFeedback: (message: ViewMessage, feedback: Feedback | null) => void;
  /** Sends a refused turn once more. */
  retry: () => void;
  /** Takes a refused turn off the page. */
  dismiss: () => void;
}

export const ThreadActionsContext = createContext<ThreadActions | null>(null);

export function useThreadActions(): ThreadActions {
  const actions = use(ThreadActionsContext);
  if (!actions) throw new Error("useThreadActions needs a ThreadActionsContext above it");
  return actions;
}
