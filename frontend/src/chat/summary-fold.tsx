import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { undoSummary } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { ContextUse } from "@/api/types";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { contextKey } from "./cache";

interface SummaryFoldProps {
  conversationId: string;
  summary: NonNullable<ContextUse["summary"]>;
}

/** Between the messages that a summary stands for and those that the model reads themselves. */
export function SummaryFold({ conversationId, summary }: SummaryFoldProps) {
  const client = useQueryClient();
  const undo = useMutation({
    mutationFn: () => undoSummary(conversationId),
    onSuccess: () => client.invalidateQueries({ queryKey: contextKey(conversationId) }),
  });
  return (
    <section
      aria-label={t`Summary`}
      className="my-4 border-border border-y py-2 text-muted-foreground text-sm"
    >
      <details className="group/summary">
        <summary className="flex min-h-8 w-fit cursor-pointer list-none items-center gap-1 rounded hover:text-foreground">
          <ChevronRight
            aria-hidden
            className="size-4 transition-transform group-open/summary:rotate-90 rtl:-scale-x-100 rtl:group-open/summary:-rotate-90"
          />
          <Trans>The messages before are summarised for the model</Trans>
        </summary>
        <div className="flex flex-col items-start gap-2 py-1 ps-5">
          {/* Text and no markup: it is made from what files and tools said too. */}
          <p dir="auto" className="whitespace-pre-wrap break-words text-foreground">
            {summary.text}
          </p>
          <p className="text-xs">
            <Trans>The model reads this in their place, as data and not as instructions.</Trans>
          </p>
          {undo.error && <Notice tone="error">{errorMessage(undo.error)}</Notice>}
          <Button variant="outline" size="sm" busy={undo.isPending} onClick={() => undo.mutate()}>
            <Trans>Undo</Trans>
          </Button>
        </div>
      </details>
    </section>
  );
}
