/**
 * Joins the chat components of assistant-ui to our own state: they read the messages from here,
 * and what a reader does comes back as calls of `turns`. The server's tree is the truth; branches
 * are switched there, not in assistant-ui's repository.
 */
import {
  type AppendMessage,
  AssistantRuntimeProvider,
  type ThreadMessageLike,
  useExternalStoreRuntime,
} from "@assistant-ui/react";
import { type ReactNode, useMemo } from "react";
import type { Model, Part } from "@/api/types";
import { AttachmentUploads, acceptedTypes } from "./attachments";
import type { ViewMessage } from "./view";

export interface ChatHandlers {
  send: (parts: Part[]) => Promise<void>;
  edit: (messageId: string, parts: Part[]) => Promise<void>;
  stop: () => Promise<void>;
}

interface ChatRuntimeProps extends ChatHandlers {
  messages: ViewMessage[];
  running: boolean;
  model: Model | undefined;
  children: ReactNode;
}

export function ChatRuntime(props: ChatRuntimeProps) {
  const { messages, running, model, send, edit, stop, children } = props;
  const accept = acceptedTypes(model);
  const uploads = useMemo(() => new AttachmentUploads(accept), [accept]);
  const runtime = useExternalStoreRuntime<ViewMessage>({
    messages,
    isRunning: running,
    convertMessage: toThreadMessage,
    onNew: (message) => send(partsOf(message, uploads)),
    onEdit: async (message) => {
      if (message.sourceId) await edit(message.sourceId, partsOf(message, uploads));
    },
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

function toThreadMessage(message: ViewMessage): ThreadMessageLike {
  const common = {
    id: message.id,
    content: [{ type: "text" as const, text: message.content }],
    createdAt: new Date(message.created_at),
    metadata: { custom: { view: message } },
  };
  if (message.role !== "user") {
    return { ...common, role: "assistant", status: statusOf(message) };
  }
  return {
    ...common,
    role: "user",
    attachments: message.parts.flatMap((part) =>
      part.type === "text"
        ? []
        : {
            id: part.attachment_id,
            type: part.type === "image" ? ("image" as const) : ("document" as const),
            name: part.filename ?? (part.type === "image" ? "Image" : "File"),
            content: [],
            status: { type: "complete" as const },
          },
    ),
  };
}

function statusOf(message: ViewMessage): NonNullable<ThreadMessageLike["status"]> {
  switch (message.status) {
    case "pending":
      return message.live?.phase === "failed"
        ? { type: "incomplete", reason: "error" }
        : { type: "running" };
    case "cancelled":
      return { type: "incomplete", reason: "cancelled" };
    case "blocked":
      return { type: "incomplete", reason: "content-filter" };
    case "failed":
      return { type: "incomplete", reason: "error" };
    case "completed":
      return { type: "complete", reason: "stop" };
  }
}
