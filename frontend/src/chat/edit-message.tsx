import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "@/ui/button";
import { MessageFiles } from "./message-files";
import { useThreadActions } from "./thread-actions";
import type { ViewMessage } from "./view";

interface EditMessageProps {
  message: ViewMessage;
  onDone: () => void;
}

/** A message while it is edited. Sending makes a new branch; its files stay with it. */
export function EditMessage({ message, onDone }: EditMessageProps) {
  const { edit, running } = useThreadActions();
  const [text, setText] = useState(message.content);
  const field = useRef<HTMLTextAreaElement>(null);
  const files = message.parts.filter((part) => part.type !== "text");
  const empty = text.trim() === "" && files.length === 0;

  useEffect(() => {
    const element = field.current;
    element?.focus();
    element?.setSelectionRange(element.value.length, element.value.length);
  }, []);

  const send = () => {
    if (empty || running) return;
    onDone();
    edit(message, [...(text.trim() ? [{ type: "text" as const, text }] : []), ...files]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      onDone();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    }
  };
  return (
    <div className="py-5">
      <MessageFiles parts={files} />
      <div className="flex flex-col gap-3 rounded-3xl bg-bubble p-4">
        <textarea
          ref={field}
          aria-label={t`Edit your message`}
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          className="field-sizing-content max-h-[50dvh] w-full resize-none bg-transparent px-1 leading-7 outline-none"
        />
        <div className="flex justify-end gap-2">
          <Button variant="outline" size="sm" onClick={onDone}>
            <Trans>Cancel</Trans>
          </Button>
          <Button size="sm" onClick={send} disabled={empty || running}>
            <Trans>Send</Trans>
          </Button>
        </div>
      </div>
    </div>
  );
}
