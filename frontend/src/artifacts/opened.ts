/** Which artifact is open beside the chat, and the messages that blocks of code stand in. */
import { createContext } from "react";
import { create } from "zustand";

export interface Place {
  messageId: string;
  /** Among the artifacts of its message; -1 for what stands in none, which `code` is then. */
  index: number;
  language: string;
  code: string;
}

interface OpenedState {
  opened: Place | null;
  /** Where the focus goes back to. */
  opener: HTMLElement | null;
}

export const useOpened = create<OpenedState>(() => ({ opened: null, opener: null }));

export function openArtifact(opened: Place): void {
  const focused = document.activeElement;
  useOpened.setState({ opened, opener: focused instanceof HTMLElement ? focused : null });
}

export const showVersion = (opened: Place): void => useOpened.setState({ opened });

export function closeArtifact(): void {
  const { opener } = useOpened.getState();
  useOpened.setState({ opened: null, opener: null });
  // When what was covered takes focus again. A row that was laid out anew has another button.
  setTimeout(() => (opener?.isConnected ? opener : document.getElementById("main"))?.focus());
}

export interface Answer {
  messageId: string;
  text: string;
}

/** The answer around a block; null where artifacts cannot be opened. */
export const AnswerContext = createContext<Answer | null>(null);
