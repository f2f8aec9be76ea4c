import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Component, memo, type ReactNode } from "react";
import { Notice } from "@/ui/notice";
import { AssistantMessage } from "./assistant-message";
import { EditMessage } from "./edit-message";
import { isResultsOnly } from "./parts";
import { UserMessage } from "./user-message";
import type { ViewMessage } from "./view";

interface MessageRowProps {
  message: ViewMessage;
  /** The model of the message below it, which answers it. */
  answeredBy: string | null;
  /** Ids of the calls whose results it was written from, with spaces between. */
  readFrom: string;
  /** Ids of files of which an answer above says that they were withheld, with spaces between. */
  saidAbove: string;
  editing: boolean;
  /** The message to edit, or null to stop editing. */
  setEditing: (id: string | null) => void;
}

/** One message of the thread; rendered again only when it has changed itself. */
export const MessageRow = memo(function MessageRow(props: MessageRowProps) {
  return (
    <MessageBoundary message={props.message}>
      <Row {...props} />
    </MessageBoundary>
  );
});

function Row(props: MessageRowProps) {
  const { message, answeredBy, readFrom, saidAbove, editing, setEditing } = props;
  if (message.role !== "user") {
    return <AssistantMessage message={message} readFrom={readFrom} saidAbove={saidAbove} />;
  }
  // They are shown with the calls that they answer.
  if (isResultsOnly(message.parts)) return null;
  if (editing) return <EditMessage message={message} onDone={() => setEditing(null)} />;
  const edit = () => setEditing(message.id);
  return <UserMessage message={message} answeredBy={answeredBy} onEdit={edit} />;
}

interface BoundaryProps {
  message: ViewMessage;
  children: ReactNode;
}

/** A message that cannot be shown leaves all others readable. */
class MessageBoundary extends Component<BoundaryProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidUpdate(before: BoundaryProps) {
    // Another state of the message is tried again.
    if (this.state.failed && before.message !== this.props.message) {
      this.setState({ failed: false });
    }
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="py-5">
        <Notice tone="error" title={t`This message could not be shown`}>
          <Trans>The others are not affected. Reload the page to try again.</Trans>
        </Notice>
      </div>
    );
  }
}
