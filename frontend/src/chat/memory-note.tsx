import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import { errorMessage } from "@/api/errors";
import { dismissProposal, saveProposal } from "@/api/memories";
import { memoriesKey } from "@/pages/memory-key";
import { Button } from "@/ui/button";
import { inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { conversationKey, refreshConversation } from "./cache";
import type { ViewMessage } from "./view";

type Note = NonNullable<ViewMessage["memory"]>;

/** Under what the reader wrote: what could be remembered of it, or is since they asked for that. */
export function MemoryNote({ message }: { message: ViewMessage }) {
  const note = message.memory;
  if (!note || note.state === "dismissed") return null;
  return <Shown key={`${note.state} ${note.text}`} messageId={message.id} note={note} />;
}

function Shown({ messageId, note }: { messageId: string; note: Note }) {
  const { id } = useParams();
  const client = useQueryClient();
  const [edited, setEdited] = useState<string | null>(null);
  const change = useMutation({
    mutationFn: async (text: string | null) => {
      if (text === null) await dismissProposal(messageId);
      else await saveProposal(messageId, text);
    },
    onSuccess: async () => {
      void client.invalidateQueries({ queryKey: memoriesKey });
      if (id && client.getQueryState(conversationKey(id))) await refreshConversation(client, id);
    },
  });
  const saved = note.state === "saved";
  const title = saved ? t`Remembered` : t`Remember this?`;
  return (
    <section
      aria-label={title}
      className="mt-2 flex w-full max-w-[85%] flex-col gap-2 rounded-2xl border border-border px-4 py-3 text-sm md:max-w-[75%]"
    >
      {change.error && <Notice tone="error">{errorMessage(change.error)}</Notice>}
      <p className="font-medium text-muted-foreground text-xs">{title}</p>
      {edited === null ? (
        <p dir="auto" className="break-words">
          {note.text}
        </p>
      ) : (
        <input
          aria-label={t`What to remember`}
          dir="auto"
          maxLength={300}
          className={inputClass}
          value={edited}
          onChange={(event) => setEdited(event.target.value)}
        />
      )}
      <div className="flex flex-wrap gap-2">
        {saved ? (
          <Button
            variant="outline"
            size="sm"
            busy={change.isPending}
            onClick={() => change.mutate(null)}
          >
            <Trans>Undo</Trans>
          </Button>
        ) : (
          <>
            <Button
              size="sm"
              busy={change.isPending}
              disabled={edited !== null && edited.trim() === ""}
              onClick={() => change.mutate((edited ?? note.text).trim())}
            >
              <Trans>Save</Trans>
            </Button>
            {edited === null && (
              <Button variant="outline" size="sm" onClick={() => setEdited(note.text)}>
                <Trans context="verb">Edit</Trans>
              </Button>
            )}
            <Button
              variant="ghost"
              size="sm"
              disabled={change.isPending}
              onClick={() => change.mutate(null)}
            >
              <Trans>Dismiss</Trans>
            </Button>
          </>
        )}
      </div>
    </section>
  );
}
