/**
 * Errors that the API has answered this tab with, newest first, for whoever asks for help: the
 * request's id leads an administrator to the server's log. They are gone with the tab.
 */
export interface Failure {
  /** ISO 8601. */
  at: string;
  message: string;
  /** Null where the error came within a stream. */
  status: number | null;
  requestId: string | null;
}

const MOST = 10;
let failures: Failure[] = [];

/** Not being signed in is no failure. */
export function noteFailure(failure: Omit<Failure, "at">): void {
  if (failure.status === 401) return;
  failures = [{ at: new Date().toISOString(), ...failure }, ...failures].slice(0, MOST);
}

export const failuresOfTab = (): readonly Failure[] => failures;

export function forgetFailures(): void {
  failures = [];
}
