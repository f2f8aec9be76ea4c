/** What the page, the frame and the worker that runs Python tell each other. */

/** What a program can be given, and can hand over, of files. */
export const LARGEST_FILES_BYTES = 50_000_000;

/** The interpreter: the page fetches it, since neither the frame nor the worker has a network. */
export interface Interpreter {
  /** The script of the worker. */
  script: string;
  /** CPython as WebAssembly, and its standard library as a zip. */
  wasm: ArrayBuffer;
  stdlib: ArrayBuffer;
  /** The memory of a Python that has begun (vite.python-snapshot.ts). */
  snapshot: ArrayBuffer;
}

/** What the frame and the worker say to people, in the page's language: they have no words. */
export interface Words {
  /** No worker could be begun. */
  noWorker: string;
  /** A program has called `input()`. */
  noInput: string;
  /** It has written more than is shown. */
  cut: string;
}

export interface NamedFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** To the worker. The files are written into the folder that the program runs in. */
export type WorkerOrder =
  | ({ type: "load"; words: Words } & Omit<Interpreter, "script">)
  | { type: "run"; code: string; files: NamedFile[] };

/** To the frame: `start` begins a new worker and ends the one before. */
export type FrameOrder =
  | ({ type: "start"; words: Words } & Interpreter)
  | { type: "stop" }
  | Extract<WorkerOrder, { type: "run" }>;

export type RunMessage =
  /** Python can be told to run. */
  | { type: "loaded" }
  | { type: "output"; stream: "out" | "error"; text: string }
  /** The program has ended: `error` is its traceback, `left` names files too large to hand over. */
  | { type: "ended"; error: string | null; files: NamedFile[]; left: string[] }
  /** There will be no Python. */
  | { type: "failed"; reason: string };

export type FrameMessage = { type: "ready" } | RunMessage;

/**
 * The message, if it is one. A program can send what it likes from its worker: nothing of it is
 * trusted but its shape, and its texts are shown as text.
 */
export function asFrameMessage(data: unknown): FrameMessage | null {
  if (typeof data !== "object" || data === null) return null;
  const { type, ...rest } = data as Record<string, unknown>;
  if (type === "ready" || type === "loaded") return { type };
  if (type === "failed") return { type, reason: String(rest.reason) };
  if (type === "output") {
    return { type, stream: rest.stream === "error" ? "error" : "out", text: String(rest.text) };
  }
  if (type === "ended") {
    return {
      type,
      error: typeof rest.error === "string" ? rest.error : null,
      files: list(rest.files).filter(isFile),
      left: list(rest.left).map(String),
    };
  }
  return null;
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function isFile(value: unknown): value is NamedFile {
  if (typeof value !== "object" || value === null) return false;
  const { name, bytes } = value as Record<string, unknown>;
  return typeof name === "string" && bytes instanceof Uint8Array;
}
