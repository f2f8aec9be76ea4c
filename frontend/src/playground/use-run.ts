import { useCallback, useEffect, useRef, useState } from "react";
import { errorMessage } from "@/api/errors";
import type { Body } from "./body";
import { type Run, runRequest } from "./run";

/** The newest request of the playground: its run, whether it still comes, why it failed. */
export function useRun() {
  const [run, setRun] = useState<Run | null>(null);
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  const start = useCallback(async (body: Body) => {
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    setRun(null);
    setError(null);
    setRunning(true);
    try {
      await runRequest(body, controller.signal, (next) => {
        if (abort.current === controller) setRun(next);
      });
    } catch (reason) {
      if (!controller.signal.aborted) setError(errorMessage(reason));
    }
    if (abort.current === controller) setRunning(false);
  }, []);
  const stop = useCallback(() => abort.current?.abort(), []);
  return { run, running, error, start, stop, fail: setError };
}
