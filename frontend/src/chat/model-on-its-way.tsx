import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useRef } from "react";
import type { Model, PendingModel } from "@/api/types";
import { cn } from "@/lib/cn";
import { toast } from "@/ui/toast";
import { isOnItsWay } from "./queries";

interface ModelOnItsWayProps {
  models: Model[];
  pending: PendingModel[];
  className?: string | undefined;
}

/** How far a better model is, beside the one that answers; and that it has come. */
export function ModelOnItsWay({ models, pending, className }: ModelOnItsWayProps) {
  useNewDefault(models[0]);
  const model = pending.find(isOnItsWay);
  if (!model) return null;
  const { name, state } = model;
  const part = model.total_bytes ? model.done_bytes / model.total_bytes : 0;
  const text = stateInWords(state, Math.floor(part * 100));
  return (
    <p className={cn("flex min-w-0 items-center gap-2 text-muted-foreground text-sm", className)}>
      <progress
        className="h-1 w-14 shrink-0 accent-current"
        aria-label={t`Fetching ${name}`}
        value={state === "loading" ? undefined : part}
      />
      <span className="truncate max-sm:sr-only">
        <Trans>
          {name}: {text}
        </Trans>
      </span>
    </p>
  );
}

function stateInWords(state: string, percent: number): string {
  if (state === "fetching") return t`${percent} %`;
  if (state === "checking") return t({ message: "checking", context: "state of a model" });
  if (state === "loading") return t({ message: "loading", context: "state of a model" });
  return t({ message: "waiting", context: "state of a model" });
}

/** Says so when another model than before is the default. */
function useNewDefault(model: Model | undefined): void {
  const before = useRef<string>(undefined);
  const id = model?.id;
  const name = model?.name ?? "";
  useEffect(() => {
    if (!id) return;
    if (before.current && before.current !== id) toast(t`${name} is ready, and answers new chats.`);
    before.current = id;
  }, [id, name]);
}
