/** Runs one program in a Python of its own, in a frame that is there as long as it runs. */
import { t } from "@lingui/core/macro";
import { asFrameMessage, type NamedFile } from "@/python-frame/messages";
import { fetchInterpreter } from "./interpreter";
import {
  type Event,
  FRAME,
  NOTHING,
  nextState,
  type PythonState,
  signal,
  tell,
  wordsOfPython,
} from "./use-python";

/** From the first request for the interpreter to a Python that runs. */
const LOADING_MS = 180_000;

export interface Ended {
  state: PythonState;
  /** It ran for longer than it may. */
  late: boolean;
}

export interface Going {
  /** Never rejects: what went wrong is in the state. */
  ended: Promise<Ended>;
  stop: () => void;
}

export function runOnce(
  code: string,
  files: NamedFile[],
  limitMs: number,
  onState: (state: PythonState) => void,
): Going {
  const frame = document.createElement("iframe");
  frame.src = FRAME;
  frame.title = "Python";
  frame.hidden = true;
  frame.setAttribute("sandbox", "allow-scripts");
  const ready = signal();
  let state = NOTHING;
  let late = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let end: (ended: Ended) => void;
  const ended = new Promise<Ended>((resolve) => {
    end = resolve;
  });
  const timeout = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      late = true;
      apply({ type: "stop" });
    }, ms);
  };
  const apply = (event: Event) => {
    const before = state.phase;
    state = nextState(state, event);
    onState(state);
    if (before === "loading" && state.phase === "running") timeout(limitMs);
    if (state.phase !== "idle") return;
    clearTimeout(timer);
    window.removeEventListener("message", onMessage);
    frame.remove(); // its worker ends with it
    end({ state, late });
  };
  const onMessage = (event: MessageEvent) => {
    if (event.source !== frame.contentWindow) return;
    const message = asFrameMessage(event.data);
    if (message?.type === "ready") ready.give();
    else if (message && state.phase !== "idle") apply({ type: "heard", message });
  };

  window.addEventListener("message", onMessage);
  apply({ type: "begin", loads: true });
  timeout(LOADING_MS);
  document.body.append(frame);
  Promise.all([fetchInterpreter(), ready.given]).then(
    ([interpreter]) => {
      tell(frame, { type: "start", ...interpreter, words: wordsOfPython() });
      // The worker reads the order to run when it has loaded.
      tell(frame, { type: "run", code, files });
    },
    () => {
      const reason = t`Python could not be fetched. Try again when the connection is back.`;
      if (state.phase !== "idle") apply({ type: "heard", message: { type: "failed", reason } });
    },
  );
  return {
    ended,
    stop: () => {
      if (state.phase !== "idle") apply({ type: "stop" });
    },
  };
}
