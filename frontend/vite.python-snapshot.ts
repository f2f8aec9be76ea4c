/**
 * The memory of a Python that has begun, made while the page is built: a worker that takes it on
 * begins in less than half of the time, since Python compiles its own modules when it begins.
 *
 * The sources import its address from `virtual:python-snapshot`.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { loadPyodide } from "pyodide";
import type { Plugin } from "vite";

const NAME = /^virtual:python-snapshot$/;
const HERE = fileURLToPath(import.meta.url);
const FOLDER = fileURLToPath(new URL("./node_modules/.parley", import.meta.url));

export function pythonSnapshot(): Plugin {
  return {
    name: "python-snapshot",
    enforce: "pre",
    resolveId: {
      filter: { id: NAME },
      async handler() {
        return `${await snapshotFile()}?url`;
      },
    },
  };
}

/** Made once for each version of the interpreter and of this file. */
async function snapshotFile(): Promise<string> {
  const lock = createRequire(import.meta.url).resolve("pyodide/pyodide-lock.json");
  const kind = createHash("sha256").update(readFileSync(lock)).update(readFileSync(HERE));
  const path = `${FOLDER}/python_snapshot-${kind.digest("hex").slice(0, 16)}.bin`;
  if (!existsSync(path)) {
    mkdirSync(FOLDER, { recursive: true });
    const part = `${path}.${process.pid}`;
    writeFileSync(part, await snapshot(dirname(lock), JSON.parse(readFileSync(lock, "utf8"))));
    renameSync(part, path); // never half a file, also when two builds run at once
  }
  return path;
}

/** As src/python-frame/worker.ts begins one, from the same files. */
async function snapshot(indexURL: string, { info }: { info: unknown }): Promise<Uint8Array> {
  const python = await loadPyodide({
    indexURL,
    lockFileContents: JSON.stringify({ info, packages: {} }),
    env: { HOME: "/home/pyodide" },
    _makeSnapshot: true,
  });
  return python.makeMemorySnapshot();
}
