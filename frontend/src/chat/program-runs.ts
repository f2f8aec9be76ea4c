/** What this page has seen of the programs that it ran, by the ids of their calls. */
import { create } from "zustand";
import type { PythonState } from "@/artifacts/use-python";

export interface ProgramRun {
  state: PythonState;
  stop: () => void;
}

const useProgramRuns = create<Record<string, ProgramRun>>(() => ({}));

export const useProgramRun = (callId: string | undefined): ProgramRun | null =>
  useProgramRuns((runs) => (callId ? (runs[callId] ?? null) : null));

export const putProgramRun = (callId: string, run: ProgramRun): void =>
  useProgramRuns.setState({ [callId]: run });

const claims = new Map<string, () => void>();

/** The page has claimed a program, and ends it without a result by `end`. */
export const claimBegins = (callId: string, end: () => void): void => {
  claims.set(callId, end);
};

export const claimEnds = (callId: string): void => {
  claims.delete(callId);
};

/** Ends a program of which the model is to read nothing any more; not one that is run again. */
export const abandonProgram = (callId: string): void => claims.get(callId)?.();

export const isRunningHere = (run: ProgramRun | null): boolean =>
  run !== null && run.state.phase !== "idle";
