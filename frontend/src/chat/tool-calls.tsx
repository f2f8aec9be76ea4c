import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronRight, Globe, Wrench } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { useParams } from "react-router";
import { errorMessage } from "@/api/errors";
import { type Decision, decideToolCall, listToolCalls } from "@/api/tools";
import type { Part, ToolCall } from "@/api/types";
import { Button } from "@/ui/button";
import { toast } from "@/ui/toast";
import { toolCallsKey } from "./cache";
import { isRunningHere, type ProgramRun, useProgramRun } from "./program-runs";
import { webTitle } from "./web-calls";

/** While calls run; the event socket usually says so sooner. */
const REREAD_MS = 2000;

const ProgramCall = lazy(() => import("./program-call"));

type CallPart = Extract<Part, { type: "call" }>;

const words: Record<ToolCall["status"], MessageDescriptor> = {
  waiting: msg({ message: "waits for you", context: "a call of a tool" }),
  due: msg({ message: "is called", context: "a call of a tool" }),
  running: msg({ message: "is called", context: "a call of a tool" }),
  done: msg({ message: "done", context: "a call of a tool" }),
  failed: msg({ message: "failed", context: "a call of a tool" }),
  cancelled: msg({ message: "stopped", context: "a call of a tool" }),
  denied: msg({ message: "not allowed", context: "a call of a tool" }),
};

export const callsOf = (parts: Part[]): CallPart[] =>
  parts.flatMap((part) => (part.type === "call" ? [part] : []));

/** The calls of an answer: folded, and open where a person has to decide. */
export function ToolCalls({ parts }: { parts: CallPart[] }) {
  const { id = "" } = useParams();
  const ids = parts.map((part) => part.call_id);
  const { data } = useQuery({
    queryKey: toolCallsKey(id),
    queryFn: () => listToolCalls(id),
    enabled: id !== "",
    refetchInterval: ({ state }) => {
      const known = state.data?.data ?? [];
      const open = known.some((call) => call.status === "due" || call.status === "running");
      return open || !ids.every((one) => known.some((call) => call.call_id === one))
        ? REREAD_MS
        : false;
    },
  });
  return (
    <ul className="my-2 flex flex-col gap-2" aria-label={t`Tool calls`}>
      {parts.map((part) => (
        <li key={part.call_id}>
          <Call part={part} call={data?.data.find((one) => one.call_id === part.call_id)} />
        </li>
      ))}
    </ul>
  );
}

function Call({ part, call }: { part: CallPart; call: ToolCall | undefined }) {
  const asks = call?.status === "waiting" && call.is_current;
  const run = useProgramRun(call?.id);
  // Its person watches a program.
  const opens = asks || run !== null;
  const [open, setOpen] = useState(opens);
  useEffect(() => setOpen(opens), [opens]);
  const status = call ? statusOf(call, run) : "";
  const ofWeb = call ? webTitle(call) : null;
  const tool = call ? titleOf(call) : part.name;
  const server = call?.of_page ? null : call?.server;
  const Icon = ofWeb ? Globe : Wrench;
  return (
    <div className="rounded-xl border border-border px-3 py-1 text-sm">
      <details
        open={open}
        onToggle={(event) => setOpen(event.currentTarget.open)}
        className="group"
      >
        <summary className="flex min-h-10 cursor-pointer list-none items-center gap-2 rounded">
          <ChevronRight
            aria-hidden
            className="size-4 shrink-0 transition-transform group-open:rotate-90 rtl:-scale-x-100 rtl:group-open:-rotate-90"
          />
          <Icon aria-hidden className="size-4 shrink-0 text-muted-foreground" />
          <span className="min-w-0 flex-1 truncate font-medium">
            {ofWeb ? (
              <bdi>{ofWeb}</bdi>
            ) : server ? (
              <Trans>
                {tool} <span className="font-normal text-muted-foreground">of {server}</span>
              </Trans>
            ) : (
              tool
            )}
          </span>
          <span role="status" className="shrink-0 text-muted-foreground">
            {status}
          </span>
        </summary>
        {call?.withheld && (
          <p className="pb-2 text-muted-foreground">
            {call.withheld_in_part ? (
              <Trans>
                The model was not given a part of this result, which reads like instructions to a
                model. It can be harmless.
              </Trans>
            ) : (
              <Trans>
                The model was not given this result: it reads like instructions to a model. It can
                be harmless.
              </Trans>
            )}
          </p>
        )}
        {call?.of_page ? (
          <Suspense>
            <ProgramCall call={call} />
          </Suspense>
        ) : (
          <>
            <Text title={t`Arguments`} text={shown(part.arguments)} />
            {call?.result && <Text title={t`Result`} text={call.result} />}
          </>
        )}
      </details>
      {asks && <Approval call={call} />}
    </div>
  );
}

function statusOf(call: ToolCall, run: ProgramRun | null): string {
  const { status, is_current, of_page } = call;
  if (status === "waiting" && !is_current) {
    return t({ message: "not called", context: "a call of a tool" });
  }
  if (of_page && (isRunningHere(run) || status === "due")) {
    return t({ message: "runs here", context: "a program" });
  }
  if (of_page && status === "running" && run?.state.outcome === "stopped") {
    return t(words.cancelled); // before the server says so
  }
  if (of_page && status === "running" && !run) {
    return t({ message: "runs in another window", context: "a program" });
  }
  return t(words[status]);
}

function Text({ title, text }: { title: string; text: string }) {
  return (
    <div className="pb-2">
      <p className="text-muted-foreground text-xs">{title}</p>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
        tabIndex={0}
        className="max-h-64 overflow-auto whitespace-pre-wrap break-words rounded-lg bg-muted p-2 font-mono text-xs"
        dir="auto"
      >
        {text}
      </pre>
    </div>
  );
}

function Approval({ call }: { call: ToolCall }) {
  const tool = titleOf(call);
  const client = useQueryClient();
  const { id = "" } = useParams();
  const decide = useMutation({
    mutationFn: (decision: Decision) => decideToolCall(call.id, decision),
    onError: (error) => toast(errorMessage(error)),
    onSettled: () => client.invalidateQueries({ queryKey: toolCallsKey(id) }),
  });
  const button = (decision: Decision, label: string, variant: "primary" | "outline") => (
    <Button variant={variant} disabled={decide.isPending} onClick={() => decide.mutate(decision)}>
      {label}
    </Button>
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: no fields, but buttons that belong together
    <div
      role="group"
      aria-label={t`Allow ${tool}?`}
      className="flex flex-wrap items-center gap-2 pb-2"
    >
      {button("once", t`Allow once`, "primary")}
      {button("chat", t`In this chat`, "outline")}
      {call.may_always && button("always", t`Always`, "outline")}
      {button("deny", t`Deny`, "outline")}
    </div>
  );
}

/** Where the tool is the product's own, in the reader's language. */
function titleOf({ web, tool }: ToolCall): string {
  if (web === "search") return t`Search the web`;
  return web === "fetch" ? t`Read a page` : tool;
}

/** JSON laid out; what is none stays as it is. */
function shown(written: string): string {
  try {
    return JSON.stringify(JSON.parse(written), null, 2);
  } catch {
    return written;
  }
}
