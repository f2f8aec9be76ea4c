import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { X } from "lucide-react";
import { useEffect, useState } from "react";
import type { Part } from "@/api/types";
import { Button } from "@/ui/button";
import { IconButton } from "@/ui/icon-button";
import { useComposing } from "./composing";
import { usePutBack } from "./draft-keeper";
import { liveAnswer } from "./live";
import { textOfParts } from "./parts";
import { takeQueued, useQueued } from "./queued";

interface QueuedMessageProps {
  conversationId: string;
  running: boolean;
  send: (parts: Part[]) => Promise<void>;
  /** Stops the running answer; its text so far stays. */
  stop: () => Promise<void>;
}

/**
 * The message that is sent when the running answer has ended, or now: the answer is stopped then.
 * After one that failed it goes back into the composer: its reader decides.
 */
export function QueuedMessage({ conversationId, running, send, stop }: QueuedMessageProps) {
  const [steering, setSteering] = useState(false);
  const parts = useQueued(conversationId);
  const composing = useComposing();
  const putBack = usePutBack();
  const back = (waiting: Part[]) => {
    const written = composing.text;
    const text = [textOfParts(waiting), written].filter(Boolean).join("\n");
    putBack([{ type: "text", text }]);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end of an answer sends it
  useEffect(() => {
    if (running || !parts) return;
    // After all effects of this render: `send` hangs the message below what is shown now.
    const timer = setTimeout(async () => {
      const waiting = await takeQueued(conversationId);
      if (!waiting) return;
      if (liveAnswer(conversationId)?.phase === "failed") back(waiting);
      else void send(waiting).catch(() => back(waiting));
    });
    return () => clearTimeout(timer);
  }, [running, parts, conversationId]);
  if (!parts) return null;
  return (
    <div className="mb-2 flex items-start gap-2 rounded-2xl border border-border border-dashed px-4 py-2 text-sm">
      <p role="status" className="min-w-0 flex-1 break-words text-muted-foreground">
        <span className="font-medium">
          <Trans>Sent next:</Trans>{" "}
        </span>
        <span dir="auto">{textOfParts(parts)}</span>
      </p>
      <Button
        variant="outline"
        size="sm"
        disabled={steering || !running}
        onClick={() => {
          setSteering(true);
          void stop().finally(() => setSteering(false));
        }}
      >
        <Trans>Send now</Trans>
      </Button>
      <IconButton
        label={t`Take the message back`}
        onClick={async () => {
          const waiting = await takeQueued(conversationId);
          if (waiting) back(waiting);
        }}
      >
        <X className="size-4" />
      </IconButton>
    </div>
  );
}
