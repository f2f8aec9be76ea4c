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

export const isRunningHere = (run: ProgramRun | null): boolean =>
  run !== null && run.state.phase !== "idle";
