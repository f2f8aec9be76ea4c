import snapshot from "virtual:python-snapshot";
import wasm from "pyodide/pyodide.asm.wasm?url";
import stdlib from "pyodide/python_stdlib.zip?url";
import type { Interpreter } from "@/python-frame/messages";
import script from "@/python-frame/worker?worker&url";

let fetched: Promise<Interpreter> | null = null;

/** The interpreter's files, fetched once for the page (10.6 MB compressed). */
export function fetchInterpreter(): Promise<Interpreter> {
  fetched ??= fetchAll().catch((error) => {
    fetched = null; // the next program tries again
    throw error;
  });
  return fetched;
}

async function fetchAll(): Promise<Interpreter> {
  const [code, ...binaries] = await Promise.all([script, wasm, stdlib, snapshot].map(get));
  const [first, second, third] = await Promise.all(binaries.map((answer) => answer.arrayBuffer()));
  if (!code || !first || !second || !third) throw new Error("four files are expected");
  return { script: await code.text(), wasm: first, stdlib: second, snapshot: third };
}

async function get(address: string): Promise<Response> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer;
}
