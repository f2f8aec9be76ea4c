/** A program that a model calls: its code, and under it what it says and makes while it runs. */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { Play, Square } from "lucide-react";
import { useParams } from "react-router";
import { errorMessage } from "@/api/errors";
import type { ToolCall } from "@/api/types";
import { Files, Output, statusOf } from "@/artifacts/python-output";
import { Source } from "@/markdown/source";
import { Button } from "@/ui/button";
import { toast } from "@/ui/toast";
import { codeOf, isOver } from "./program-code";
import { isRunningHere, useProgramRun } from "./program-runs";
import { runAgain } from "./programs";

export default function ProgramCall({ call }: { call: ToolCall }) {
  const client = useQueryClient();
  const { id = "" } = useParams();
  const run = useProgramRun(call.id);
  const runs = isRunningHere(run);
  const over = isOver(call);
  const again = () => void runAgain(client, id, call).catch((error) => toast(errorMessage(error)));
  return (
    <div className="answer pb-2">
      <Source code={codeOf(call.arguments)} language="python" />
      {run ? (
        <>
          <Output said={run.state.said} />
          <Files files={run.state.files} left={run.state.left} />
        </>
      ) : (
        call.result && <Stored text={call.result} />
      )}
      {(run || over) && (
        <div className="flex min-h-9 items-center gap-3 pt-2">
          {runs && (
            <Button variant="outline" size="sm" onClick={run?.stop}>
              <Square aria-hidden className="size-3.5" />
              <Trans>Stop program</Trans>
            </Button>
          )}
          {over && !runs && (
            <Button variant="outline" size="sm" onClick={again}>
              <Play aria-hidden className="size-3.5" />
              <Trans>Run again</Trans>
            </Button>
          )}
          {run && <span className="text-muted-foreground text-xs">{statusOf(run.state)}</span>}
        </div>
      )}
    </div>
  );
}

/** What the model was told of a run that this page has not seen. */
function Stored({ text }: { text: string }) {
  return (
    <section aria-label={t`Output of the program`}>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
        tabIndex={0}
        dir="ltr"
        className="max-h-64 overflow-auto whitespace-pre-wrap break-words font-mono text-sm leading-6"
      >
        {text}
      </pre>
    </section>
  );
}
