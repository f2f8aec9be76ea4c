import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { getContext } from "@/api/conversations";
import type { ContextUse, Conversation } from "@/api/types";
import { cn } from "@/lib/cn";
import { locale } from "@/lib/locale";
import { Dialog } from "@/ui/dialog";
import { iconButtonClass } from "@/ui/icon-button";
import { Tip } from "@/ui/tooltip";

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
  const { id, active_message_id: leaf, model, instructions, parameters } = conversation;
  const { data } = useQuery({
    queryKey: ["context", id, leaf, model, instructions, parameters],
    queryFn: () => getContext(id),
    enabled: leaf !== null && !running,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (!data) return null;
  const percent = Math.min(100, Math.round((100 * data.used) / data.limit));
  const whole = data.begins_with === null;
  const label = whole ? t`Context: ${percent} % full` : t`Context: the beginning is left out`;
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
      </Dialog>
    </>
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
      <p>
        {beginning === null ? (
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
