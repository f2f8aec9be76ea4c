import { memo } from "react";
import { AssistantMessage } from "./assistant-message";
import { EditMessage } from "./edit-message";
import { UserMessage } from "./user-message";
import type { ViewMessage } from "./view";

interface MessageRowProps {
  message: ViewMessage;
  editing: boolean;
  /** The message to edit, or null to stop editing. */
  setEditing: (id: string | null) => void;
}

/** One message of the thread; rendered again only when it has changed itself. */
export const MessageRow = memo(function MessageRow(props: MessageRowProps) {
  const { message, editing, setEditing } = props;
  if (message.role !== "user") return <AssistantMessage message={message} />;
  if (editing) return <EditMessage message={message} onDone={() => setEditing(null)} />;
  return <UserMessage message={message} onEdit={() => setEditing(message.id)} />;
});
