/**
 * Runs programs in CPython compiled to WebAssembly (Pyodide: https://pyodide.org), one after the
 * other: each has names of its own, and all of them one folder. There are no packages beside the
 * standard library, no network, and no keyboard.
 */
import { loadPyodide, type PyodideAPI } from "pyodide";
import createPyodideModule from "pyodide/pyodide.asm.mjs";
import { info } from "pyodide/pyodide-lock.json";
import {
  type Interpreter,
  LARGEST_FILES_BYTES,
  type NamedFile,
  type RunMessage,
  type WorkerOrder,
} from "./messages";

const FOLDER = "/home/pyodide";
const PROGRAM = "program.py";
/** Nothing is asked of it: what Pyodide fetches is at hand (`files`). */
const NOWHERE = "https://python.invalid/";
/** What a program may say: a page that lays out more than this is slow. */
const LONGEST_OUTPUT = 1_000_000;
/** The first lines are sent as they come; of a flood, what has gathered for so long. */
const SINGLY = 1_000;
const PAUSE_MS = 50;
const MOST_FILES = 50;
/** What was drawn by chance before the snapshot would be the same for everybody. */
const BEFORE = `
import builtins, random
random.seed()
def forbid(why):
    def input(prompt=""):
        raise RuntimeError(why)
    builtins.input = input
forbid(no_input)
`;

const tell = (message: RunMessage, transfer: Transferable[] = []) =>
  self.postMessage(message, { transfer });

class Output {
  private gathered = "";
  private stream: "out" | "error" = "out";
  private sent = 0;
  private characters = 0;
  private sentAt = 0;

  /** @param cut what is said where the rest is left out. */
  constructor(private readonly cut: string) {}

  write(stream: "out" | "error", text: string): void {
    if (this.characters > LONGEST_OUTPUT) return;
    if (stream !== this.stream) this.send();
    this.stream = stream;
    this.gathered += text;
    this.characters += text.length;
    if (this.characters > LONGEST_OUTPUT) this.gathered += `\n${this.cut}\n`;
    else if (this.sent > SINGLY && Date.now() < this.sentAt + PAUSE_MS) return;
    this.send();
  }

  send(): void {
    if (this.gathered === "") return;
    tell({ type: "output", stream: this.stream, text: this.gathered });
    this.gathered = "";
    this.sent += 1;
    this.sentAt = Date.now();
  }
}

let python: Promise<PyodideAPI> | null = null;
let cut = "";

self.onmessage = async ({ data }: MessageEvent<WorkerOrder>) => {
  try {
    if (data.type === "load") {
      cut = data.words.cut;
      python = load(data, data.words.noInput);
      await python;
      tell({ type: "loaded" });
    } else if (python) {
      await run(await python, data.code, data.files);
    }
  } catch (error) {
    tell({ type: "failed", reason: String(error) });
  }
};

type Files = Omit<Interpreter, "script">;

async function load({ wasm, stdlib, snapshot }: Files, noInput: string): Promise<PyodideAPI> {
  const files: Record<string, [ArrayBuffer, string]> = {
    [`${NOWHERE}pyodide.asm.wasm`]: [wasm, "application/wasm"],
    [`${NOWHERE}python_stdlib.zip`]: [stdlib, "application/zip"],
  };
  const fetch = self.fetch;
  self.fetch = async (address, options) => {
    const file = files[String(address)];
    return file
      ? new Response(file[0], { headers: { "Content-Type": file[1] } })
      : fetch(address, options);
  };
  const loaded = await loadPyodide({
    createPyodideModule,
    indexURL: NOWHERE,
    lockFileContents: JSON.stringify({ info, packages: {} }),
    env: { HOME: FOLDER },
    _loadSnapshot: snapshot,
  });
  self.fetch = fetch;
  loaded.runPython(BEFORE, { globals: loaded.toPy({ no_input: noInput }) });
  return loaded;
}

async function run(loaded: PyodideAPI, code: string, files: NamedFile[]): Promise<void> {
  const output = new Output(cut);
  const writer = (stream: "out" | "error") => {
    const decoder = new TextDecoder();
    const write = (bytes: Uint8Array) => {
      output.write(stream, decoder.decode(bytes, { stream: true }));
      return bytes.length;
    };
    return { write };
  };
  loaded.setStdout(writer("out"));
  loaded.setStderr(writer("error"));
  for (const { name, bytes } of files) loaded.FS.writeFile(`${FOLDER}/${plainName(name)}`, bytes);
  const before = new Map(list(loaded).map(({ name, changed }) => [name, changed]));
  const names = loaded.toPy({ __name__: "__main__" });
  let failure: string | null = null;
  try {
    const value = await loaded.runPythonAsync(code, { globals: names, filename: PROGRAM });
    // As a notebook shows the value of the last line.
    if (value !== undefined) output.write("out", `${shown(loaded, value)}\n`);
  } catch (error) {
    failure = ownPart(String(error instanceof Error ? error.message : error));
  }
  output.send();
  names.destroy();
  const made = list(loaded).filter(({ name, changed }) => before.get(name) !== changed);
  const handed: NamedFile[] = [];
  const left: string[] = [];
  let bytes = 0;
  for (const { name, size } of made) {
    bytes += size;
    if (bytes > LARGEST_FILES_BYTES || handed.length >= MOST_FILES) left.push(name);
    else handed.push({ name, bytes: loaded.FS.readFile(`${FOLDER}/${name}`) });
  }
  const transfer = handed.map((file) => file.bytes.buffer);
  tell({ type: "ended", error: failure, files: handed, left }, transfer);
}

function shown(loaded: PyodideAPI, value: unknown): string {
  const names = loaded.toPy({});
  names.set("value", value);
  try {
    return loaded.runPython("repr(value)", { globals: names });
  } finally {
    names.destroy();
  }
}

interface Entry {
  name: string;
  size: number;
  changed: number;
}

/** The files in the folder, not those in folders within it. */
function list({ FS }: PyodideAPI): Entry[] {
  return FS.readdir(FOLDER).flatMap((name: string) => {
    const { mode, size, mtime } = FS.stat(`${FOLDER}/${name}`);
    return FS.isFile(mode) ? [{ name, size, changed: mtime.getTime() }] : [];
  });
}

/** Without the folders, which would lead out of the one that it belongs in. */
function plainName(name: string): string {
  const plain = name.replace(/^.*[/\\]/, "").replaceAll("\0", "");
  return plain === "" || plain === "." || plain === ".." ? "file" : plain;
}

/** A traceback without the lines of the interpreter's own code above the program's. */
function ownPart(traceback: string): string {
  const lines = traceback.trimEnd().split("\n");
  const own = lines.findIndex((line) => line.includes(`File "${PROGRAM}"`));
  return own > 0 ? [lines[0], ...lines.slice(own)].join("\n") : (lines.at(-1) ?? "");
}
