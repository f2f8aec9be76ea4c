/**
 * Gives the composer of assistant-ui its runtime: text, attachments, sending and stopping.
 *
 * The runtime holds no messages. It keeps a client object for each one, which takes seconds a
 * step in a conversation of thousands; the thread shows only what is in sight (decision 0070).
 */
import {
  type AppendMessage,
  AssistantRuntimeProvider,
  type ThreadMessageLike,
  useExternalStoreRuntime,
} from "@assistant-ui/react";
import { type ReactNode, useMemo, useState } from "react";
import type { Model, Part } from "@/api/types";
import { AttachmentUploads, acceptedTypes } from "./attachments";

interface ChatRuntimeProps {
  running: boolean;
  model: Model | undefined;
  send: (parts: Part[]) => Promise<void>;
  stop: () => Promise<void>;
  children: ReactNode;
}

const NO_MESSAGES: ThreadMessageLike[] = [];
const asIs = (message: ThreadMessageLike) => message;

export function ChatRuntime({ running, model, send, stop, children }: ChatRuntimeProps) {
  const accept = acceptedTypes(model);
  const [first] = useState(() => new AttachmentUploads(""));
  const uploads = useMemo(() => first.accepting(accept), [first, accept]);
  const runtime = useExternalStoreRuntime<ThreadMessageLike>({
    messages: NO_MESSAGES,
    convertMessage: asIs,
    isRunning: running,
    onNew: (message) => send(partsOf(message, uploads)),
    onCancel: stop,
    adapters: accept ? { attachments: uploads } : {},
  });
  return <AssistantRuntimeProvider runtime={runtime}>{children}</AssistantRuntimeProvider>;
}

/** What was written and attached, as the API takes it. */
function partsOf(message: AppendMessage, uploads: AttachmentUploads): Part[] {
  const parts: Part[] = [];
  for (const part of message.content) {
    if (part.type === "text" && part.text.trim()) parts.push({ type: "text", text: part.text });
  }
  for (const attachment of message.attachments ?? []) {
    const part = uploads.part(attachment);
    if (part) parts.push(part);
  }
  return parts;
}
