/** Gives a chat its composer: the message being written there, its files and its draft. */
import { type ReactNode, useLayoutEffect, useState } from "react";
import type { Model, Part } from "@/api/types";
import { acceptedTypes } from "./attachments";
import { Composing, ComposingContext } from "./composing";
import { DraftKeeper } from "./draft-keeper";

interface ChatRuntimeProps {
  /** Whose draft the composer holds. */
  draftOf: string;
  running: boolean;
  model: Model | undefined;
  /** Rejects when nothing was sent: what was written is back in the composer then. */
  send: (parts: Part[]) => Promise<void>;
  stop: () => Promise<void>;
  /** Shows why a message was not sent. */
  warn: (message: string) => void;
  children: ReactNode;
}

export function ChatRuntime({
  draftOf,
  running,
  model,
  send,
  stop,
  warn,
  children,
}: ChatRuntimeProps) {
  const accept = acceptedTypes(model);
  const [composing] = useState(() => new Composing(warn));
  useLayoutEffect(
    () => composing.store.setState({ running, accept }),
    [composing, running, accept],
  );
  useLayoutEffect(() => {
    composing.onSend = send;
    composing.onStop = stop;
  }, [composing, send, stop]);
  return (
    <ComposingContext value={composing}>
      <DraftKeeper conversationId={draftOf} />
      {children}
    </ComposingContext>
  );
}
