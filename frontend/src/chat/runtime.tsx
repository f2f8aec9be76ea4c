/**
 * Gives the composer of assistant-ui its runtime: text, attachments, sending and stopping.
 *
 * The runtime holds no messages. It keeps a client object for each one, which takes seconds a
 * step in a conversation of thousands; the thread shows only what is in sight (decision 0070).
 */
import {
  AssistantRuntimeProvider,
  MessageNotSentError,
  type ThreadMessageLike,
  useExternalStoreRuntime,
} from "@assistant-ui/react";
import { type ReactNode, useMemo, useState } from "react";
import type { Model, Part } from "@/api/types";
import { AttachmentUploads, acceptedTypes } from "./attachments";
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

const NO_MESSAGES: ThreadMessageLike[] = [];
const asIs = (message: ThreadMessageLike) => message;

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
  const [first] = useState(() => new AttachmentUploads("", warn));
  const uploads = useMemo(() => first.accepting(accept), [first, accept]);
  const runtime = useExternalStoreRuntime<ThreadMessageLike>({
    messages: NO_MESSAGES,
    convertMessage: asIs,
    isRunning: running,
    onNew: async ({ content, attachments }) => {
      const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
      await send(uploads.parts(text, attachments ?? [])).catch((error) => {
        throw new MessageNotSentError(String(error));
      });
    },
    onCancel: stop,
    adapters: accept ? { attachments: uploads } : {},
  });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <DraftKeeper conversationId={draftOf} uploads={uploads} />
      {children}
    </AssistantRuntimeProvider>
  );
}
