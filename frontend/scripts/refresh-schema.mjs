// Writes src/api/schema.gen.ts from a running product's OpenAPI document: what the page calls,
// and the shapes that it needs for that. The programs' API, below /v1, is none of its business.
// With arguments, from and to the two files that they name: a document, the types.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const backend = process.env.PARLEY_DEV_BACKEND ?? "http://127.0.0.1:8000";
const [file, target] = process.argv.slice(2);
const document = file
  ? JSON.parse(await readFile(file, "utf8"))
  : await (await fetch(new URL("/openapi.json", backend))).json();

document.paths = Object.fromEntries(
  Object.entries(document.paths).filter(([path]) => !path.startsWith("/v1/")),
);
const needed = reachable(document);
const { schemas } = document.components;
document.components.schemas = Object.fromEntries(
  Object.entries(schemas).filter(([name]) => needed.has(name)),
);

const types = astToString(await openapiTS(document));
const header = "// Generated from /openapi.json by `npm run schema`; not edited by hand.\n\n";
await writeFile(target ?? new URL("../src/api/schema.gen.ts", import.meta.url), header + types);

/** The names of the schemas that the paths refer to, directly or through others. */
function reachable({ paths, components }) {
  const found = new Set();
  const waiting = [paths];
  while (waiting.length > 0) {
    for (const [, name] of JSON.stringify(waiting.pop()).matchAll(
      /#\/components\/schemas\/(\w+)/g,
    )) {
      if (found.has(name)) continue;
      found.add(name);
      waiting.push(components.schemas[name]);
    }
  }
  return found;
}
