/** Messages that the server does not have yet, below those that it has. */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useRef } from "react";
import { useNavigate } from "react-router";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { useComposing } from "./composing";
import { usePutBack } from "./draft-keeper";
import { MessageFiles } from "./message-files";
import { tryAgain } from "./outbox";
import { drop, type HeldMessage, useOutbox } from "./outbox-store";
import { textOfParts } from "./parts";

export function WaitingMessages({ messages }: { messages: HeldMessage[] }) {
  return messages.map((held) => <WaitingMessage key={held.key} held={held} />);
}

function WaitingMessage({ held }: { held: HeldMessage }) {
  const composing = useComposing();
  const putBack = usePutBack();
  const text = textOfParts(held.parts);
  const edit = () => {
    const written = composing.text;
    const files = held.parts.filter(({ type }) => type !== "text");
    void drop(held.key);
    putBack([{ type: "text", text: [text, written].filter(Boolean).join("\n") }, ...files]);
  };
  return (
    <article className="flex flex-col items-end pt-5 pb-1" aria-label={t`You`}>
      <MessageFiles parts={held.parts} />
      {text && (
        <div
          dir="auto"
          className="max-w-[85%] whitespace-pre-wrap break-words rounded-3xl bg-bubble px-5 py-2.5 leading-7 md:max-w-[75%]"
        >
          {text}
        </div>
      )}
      <Notice
        tone={held.refusal === null ? "offline" : "warning"}
        title={held.refusal === null ? t`Waiting for the connection` : t`Not sent`}
        className="mt-2 py-2"
        actions={
          <>
            {held.refusal !== null && (
              <Button variant="outline" size="sm" onClick={() => void tryAgain(held.key)}>
                <Trans>Try again</Trans>
              </Button>
            )}
            <Button variant="outline" size="sm" onClick={edit}>
              <Trans>Edit</Trans>
            </Button>
            <Button variant="ghost" size="sm" onClick={() => void drop(held.key)}>
              <Trans>Cancel</Trans>
            </Button>
          </>
        }
      >
        {held.refusal}
      </Notice>
    </article>
  );
}

/** When the chat that waits at `place` becomes a conversation, whoever looks at it goes along. */
export function useGoAlong(place: string, waiting: HeldMessage[]): void {
  const navigate = useNavigate();
  const seen = useRef(new Set<string>());
  useEffect(() => {
    for (const { key } of waiting) seen.current.add(key);
  }, [waiting]);
  const begun = useOutbox(
    ({ messages }) =>
      messages.find(
        (held) => held.chat !== place && held.begins === null && seen.current.has(held.key),
      )?.chat,
  );
  useEffect(() => {
    if (begun) void navigate(`/c/${begun}`);
  }, [navigate, begun]);
}
