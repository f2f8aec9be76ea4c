/**
 * Programs that a model calls, run by this page. A call that is due is claimed, so that one page
 * runs it; what came of it goes to the server, from where the answer goes on. What is seen of a run
 * is kept as long as the page: the server has its text alone.
 */
import type { QueryClient } from "@tanstack/react-query";
import { ApiError } from "@/api/errors";
import { claimProgram, postProgramResult, releaseProgram, renewProgram } from "@/api/tools";
import type { ProgramResult, ToolCall } from "@/api/types";
import { type Ended, type Going, runOnce } from "@/artifacts/run-once";
import type { PythonState } from "@/artifacts/use-python";
import { attachedFiles } from "./attached-files";
import { toolCallsKey } from "./cache";
import { codeOf } from "./program-code";
import { claimBegins, claimEnds, putProgramRun } from "./program-runs";
import { persistently } from "./turns";

const RENEW_MS = 5_000;
const AGAIN_MS = 60_000;
/** Of what a program said, so much goes to the model: the beginning, and the end with its error. */
const HEAD = 10_000;
const TAIL = 5_000;
const MOST_FILES = 50;
/** The page cannot lay out each line of a thousand that come at once. */
const SHOWN_MS = 100;
const LONGEST_NAME = 255;

/** Runs the program of a call that is due, and says what came of it; not where another page does. */
export async function runDue(
  client: QueryClient,
  conversationId: string,
  { id }: ToolCall,
): Promise<void> {
  const reread = () => client.invalidateQueries({ queryKey: toolCallsKey(conversationId) });
  try {
    const { run_id, code, limit_s } = await claimProgram(id);
    const claim = keepClaim(id, run_id);
    try {
      void reread();
      const files = await attachedFiles(client, conversationId);
      if (claim.lost()) return;
      const going = runHere(id, code, files, limit_s * 1000);
      claim.onLost(going.stop);
      const ended = await going.ended;
      claim.letGo();
      if (!claim.lost()) {
        await persistently(() => postProgramResult(id, { run_id, ...resultOf(ended) }));
      }
    } finally {
      claim.letGo();
    }
  } catch (error) {
    // Another page's by now, or the chat has gone on: what is stored says so.
    if (!(error instanceof ApiError)) throw error;
  } finally {
    await reread();
  }
}

/** Runs a program once more for its person alone: nothing of it is sent. */
export async function runAgain(
  client: QueryClient,
  conversationId: string,
  { id, arguments: written }: ToolCall,
): Promise<void> {
  const files = await attachedFiles(client, conversationId);
  runHere(id, codeOf(written), files, AGAIN_MS);
}

function runHere(
  callId: string,
  code: string,
  files: Parameters<typeof runOnce>[1],
  limitMs: number,
): Going {
  let stop = () => {};
  const show = paced((state) => putProgramRun(callId, { state, stop: () => stop() }));
  const going = runOnce(code, files, limitMs, show);
  stop = going.stop;
  return going;
}

/** `show` for a flood of output: each phase at once, what is said within one a few times a second. */
export function paced(show: (state: PythonState) => void): (state: PythonState) => void {
  let latest: PythonState | null = null;
  let shown: PythonState["phase"] | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = () => {
    clearTimeout(timer);
    timer = undefined;
    if (!latest) return;
    shown = latest.phase;
    show(latest);
  };
  return (state) => {
    latest = state;
    if (state.phase !== shown) now();
    else timer ??= setTimeout(now, SHOWN_MS);
  };
}

/**
 * Says again and again that this page is at it, and gives the program back when it is left. The
 * claim is lost where the server says so, and where the person stops the answer.
 */
function keepClaim(callId: string, runId: string) {
  let lost = false;
  let end = () => {};
  const lose = () => {
    lost = true;
    end();
  };
  const renew = () =>
    renewProgram(callId, runId).catch((error) => {
      if (error instanceof ApiError && error.status < 500) lose();
    });
  const timer = setInterval(renew, RENEW_MS);
  const leave = () => void releaseProgram(callId, runId).catch(() => undefined);
  window.addEventListener("pagehide", leave);
  claimBegins(callId, lose);
  return {
    lost: () => lost,
    onLost: (stop: () => void) => {
      end = stop;
    },
    letGo: () => {
      clearInterval(timer);
      window.removeEventListener("pagehide", leave);
      claimEnds(callId);
    },
  };
}

/** What the model is told of a run. */
export function resultOf({ state, late }: Ended): Omit<ProgramResult, "run_id"> {
  return {
    outcome: late ? "timeout" : (state.outcome ?? "failed"),
    output: storable(bounded(state.said.map(({ text }) => text).join(""))),
    files: [...state.files.map(({ name }) => name), ...state.left]
      .slice(0, MOST_FILES)
      .map((name) => storable(name.slice(0, LONGEST_NAME))),
  };
}

/** Without null characters and halves of characters, which the server refuses. */
const storable = (text: string): string =>
  new TextDecoder().decode(new TextEncoder().encode(text.replaceAll("\0", "\ufffd")));

function bounded(text: string): string {
  const left = text.length - HEAD - TAIL;
  if (left <= 0) return text;
  return `${text.slice(0, HEAD)}\n[${left} characters left out]\n${text.slice(-TAIL)}`;
}
