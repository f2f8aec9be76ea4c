import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { summariseNow } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { ContextUse, Conversation } from "@/api/types";
import { cn } from "@/lib/cn";
import { locale } from "@/lib/locale";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { iconButtonClass } from "@/ui/icon-button";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";
import { Tip } from "@/ui/tooltip";
import { contextKey } from "./cache";
import { useContextUse } from "./context-use";

/** Percent: about so much of a full chat is never summarised. */
const HALF = 50;
const RADIUS = 7;
const AROUND = 2 * Math.PI * RADIUS;

interface ContextGaugeProps {
  conversation: Conversation;
  /** An answer is on its way: what it will have added is not known yet. */
  running: boolean;
}

/** How full a chat is for its model, and from where on it is read. */
export function ContextGauge({ conversation, running }: ContextGaugeProps) {
  const [open, setOpen] = useState(false);
  const data = useContextUse(conversation, running);
  if (!data) return null;
  const percent = Math.min(100, Math.round((100 * data.used) / data.limit));
  const label =
    data.begins_with !== null
      ? t`Context: the beginning is left out`
      : data.summary
        ? t`Context: the beginning is summarised`
        : t`Context: ${percent} % full`;
  const offersSummary =
    !data.summary && !conversation.temporary && (percent > HALF || data.begins_with !== null);
  return (
    <>
      <Tip label={label}>
        <button
          type="button"
          aria-label={label}
          onClick={() => setOpen(true)}
          className={cn(iconButtonClass, "size-6 rounded-full pointer-coarse:size-6")}
        >
          <Ring share={data.used / data.limit} />
        </button>
      </Tip>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={t`Context`}
        description={t`What the model can read at once: instructions, files and messages.`}
      >
        <Words use={data} percent={percent} />
        {offersSummary && (
          <SummariseNow
            conversationId={conversation.id}
            running={running}
            onAsked={() => setOpen(false)}
          />
        )}
      </Dialog>
    </>
  );
}

interface SummariseNowProps {
  conversationId: string;
  running: boolean;
  onAsked: () => void;
}

function SummariseNow({ conversationId, running, onAsked }: SummariseNowProps) {
  const client = useQueryClient();
  const ask = useMutation({
    mutationFn: () => summariseNow(conversationId),
    onSuccess: () => {
      toast(t`The beginning is being summarised. The summary will be shown in the chat.`);
      onAsked();
      return client.invalidateQueries({ queryKey: contextKey(conversationId) });
    },
  });
  return (
    <div className="flex flex-col items-start gap-2 pt-4">
      {ask.error && <Notice tone="error">{errorMessage(ask.error)}</Notice>}
      <Button
        variant="outline"
        size="sm"
        busy={ask.isPending}
        disabled={running}
        onClick={() => ask.mutate()}
      >
        <Trans>Summarise now</Trans>
      </Button>
    </div>
  );
}

function Ring({ share }: { share: number }) {
  const circle = { cx: 9, cy: 9, r: RADIUS, fill: "none", strokeWidth: 2.5 };
  return (
    <svg aria-hidden viewBox="0 0 18 18" className="size-4.5 -rotate-90">
      <circle {...circle} className="stroke-border" />
      <circle
        {...circle}
        className="stroke-current"
        strokeDasharray={`${Math.min(1, share) * AROUND} ${AROUND}`}
      />
    </svg>
  );
}

function Words({ use, percent }: { use: ContextUse; percent: number }) {
  const used = use.used.toLocaleString(locale());
  const limit = use.limit.toLocaleString(locale());
  const beginning = use.begins_with;
  return (
    <div className="flex flex-col gap-2 text-sm">
      <p>
        <Trans>
          About {used} of {limit} tokens, {percent} %.
        </Trans>
      </p>
      {use.summary && (
        <p>
          <Trans>The beginning of this chat is summarised for the model.</Trans>
        </p>
      )}
      <p>
        {beginning === null && use.summary ? (
          <Trans>All messages after it are read as they are.</Trans>
        ) : beginning === null && use.summarises ? (
          <Trans>
            All of this chat is read. When it is nearly full, its oldest messages are summarised.
          </Trans>
        ) : beginning === null ? (
          <Trans>
            All of this chat is read. When it is full, its oldest messages are left out first.
          </Trans>
        ) : beginning ? (
          <Trans>
            Left out: everything before <q dir="auto">{beginning}</q>
          </Trans>
        ) : (
          <Trans>Left out: everything before the newest files</Trans>
        )}
      </p>
    </div>
  );
}
