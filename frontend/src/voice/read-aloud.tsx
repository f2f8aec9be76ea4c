import { t } from "@lingui/core/macro";
import { CircleStop, Volume2 } from "lucide-react";
import { useEffect } from "react";
import type { ViewMessage } from "@/chat/view";
import { IconButton } from "@/ui/icon-button";
import { followReading, startReading, stopReading, useReading } from "./reading";
import { useVoiceModel } from "./voice-models";

/** The same while an answer is written and when it is stored. */
const keyOf = (message: ViewMessage): string =>
  message.generation_id ?? message.live?.generationId ?? message.id;

const isComing = (message: ViewMessage): boolean =>
  message.status === "pending" && message.live?.phase !== "failed";

/** Reads an answer aloud, or stops doing so; nothing where no model speaks. */
export function ReadAloudButton({ message }: { message: ViewMessage }) {
  const model = useVoiceModel("speech");
  const key = keyOf(message);
  const isRead = useReading((state) => state.key === key);
  if (!model || !message.content) return null;
  return isRead ? (
    <IconButton label={t`Stop reading`} onClick={stopReading}>
      <CircleStop className="size-4" />
    </IconButton>
  ) : (
    <IconButton
      label={t`Read aloud`}
      onClick={() => startReading(key, model, message.content, !isComing(message))}
    >
      <Volume2 className="size-4" />
    </IconButton>
  );
}

/** Tells the reader what comes of the answer that it reads; it stops when the chat is left. */
export function useFollowReading(messages: ViewMessage[]): void {
  useEffect(() => {
    for (const message of messages) {
      if (message.role === "assistant") {
        followReading(keyOf(message), message.content, !isComing(message));
      }
    }
  }, [messages]);
  useEffect(() => stopReading, []);
}
