import { t } from "@lingui/core/macro";
import { type RefObject, useCallback, useEffect, useReducer, useRef, useState } from "react";
import {
  asFrameMessage,
  type FrameMessage,
  type FrameOrder,
  type NamedFile,
  type Words,
} from "@/python-frame/messages";
import { fetchInterpreter } from "./interpreter";

export const FRAME = "/frames/python";

export interface Said {
  stream: "out" | "error";
  text: string;
}

export interface PythonState {
  /** `idle`: there is an interpreter that waits, or will be when it is asked for. */
  phase: "loading" | "running" | "idle";
  said: Said[];
  /** What the last program wrote into its folder. */
  files: NamedFile[];
  left: string[];
  outcome: "ended" | "raised" | "stopped" | "failed" | null;
}

export type Event =
  | { type: "begin"; loads: boolean }
  | { type: "heard"; message: FrameMessage }
  | { type: "stop" };

export const NOTHING: PythonState = { phase: "idle", said: [], files: [], left: [], outcome: null };

/** A pure function, so that each transition can be read at one place. */
export function nextState(state: PythonState, event: Event): PythonState {
  if (event.type === "begin") {
    return { ...NOTHING, phase: event.loads ? "loading" : "running" };
  }
  if (state.phase === "idle") return state; // what a stopped program still had to say
  if (event.type === "stop") return { ...state, phase: "idle", outcome: "stopped" };
  const { message } = event;
  if (message.type === "loaded") return { ...state, phase: "running" };
  if (message.type === "output") return { ...state, said: withSaid(state.said, message) };
  if (message.type === "failed") {
    const said = withSaid(state.said, { stream: "error", text: message.reason });
    return { ...state, phase: "idle", outcome: "failed", said };
  }
  if (message.type !== "ended") return state;
  const { error, files, left } = message;
  const said = error === null ? state.said : withSaid(state.said, { stream: "error", text: error });
  return { phase: "idle", outcome: error === null ? "ended" : "raised", said, files, left };
}

function withSaid(said: Said[], { stream, text }: Said): Said[] {
  const last = said.at(-1);
  if (last?.stream !== stream) return [...said, { stream, text }];
  return [...said.slice(0, -1), { stream, text: last.text + text }];
}

/** A Python in `frame`, and how to have it run a program or end it. */
export function usePython(frame: RefObject<HTMLIFrameElement | null>) {
  const [state, dispatch] = useReducer(nextState, NOTHING);
  const [ready] = useState(signal);
  const loaded = useRef(false);
  // A stopped run does not go on when what it waits for has come.
  const turn = useRef(0);

  useEffect(() => {
    const onMessage = (event: MessageEvent) => {
      if (!frame.current || event.source !== frame.current.contentWindow) return;
      const message = asFrameMessage(event.data);
      if (message?.type === "ready") ready.give();
      else if (message) dispatch({ type: "heard", message });
      if (message?.type === "failed") loaded.current = false;
    };
    window.addEventListener("message", onMessage);
    return () => window.removeEventListener("message", onMessage);
  }, [frame, ready]);

  const run = useCallback(
    async (code: string, files: NamedFile[]) => {
      turn.current += 1;
      const mine = turn.current;
      const loads = !loaded.current;
      dispatch({ type: "begin", loads });
      try {
        const [interpreter] = await Promise.all([loads && fetchInterpreter(), ready.given]);
        if (turn.current !== mine) return;
        // The worker reads the order to run when it has loaded.
        if (interpreter) {
          tell(frame.current, { type: "start", ...interpreter, words: wordsOfPython() });
        }
        loaded.current = true;
        tell(frame.current, { type: "run", code, files });
      } catch {
        const reason = t`Python could not be fetched. Try again when the connection is back.`;
        dispatch({ type: "heard", message: { type: "failed", reason } });
      }
    },
    [frame, ready],
  );

  /** The worker is ended with its program; the next run begins another. */
  const stop = useCallback(() => {
    turn.current += 1;
    loaded.current = false;
    tell(frame.current, { type: "stop" });
    dispatch({ type: "stop" });
  }, [frame]);

  return { state, run, stop };
}

/** What is said where the page is not. */
export const wordsOfPython = (): Words => ({
  noWorker: t`no worker`,
  noInput: t`input() cannot ask here: write the value into the program`,
  cut: t`… more was written than is shown`,
});

export function signal(): { given: Promise<void>; give: () => void } {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

// An opaque origin has no name to send to; the window is the one that the page has made.
export const tell = (frame: HTMLIFrameElement | null, message: FrameOrder) =>
  frame?.contentWindow?.postMessage(message, "*");
