// Writes src/api/schema.gen.ts from a running product's OpenAPI document.
// With arguments, from and to the two files that they name: a document, the types.
import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const backend = process.env.PARLEY_DEV_BACKEND ?? "http://127.0.0.1:8000";
const [document, target] = process.argv.slice(2);
const source = document ? pathToFileURL(document) : new URL("/openapi.json", backend);

const types = astToString(await openapiTS(source));
const header = "// Generated from /openapi.json by `npm run schema`; not edited by hand.\n\n";
await writeFile(target ?? new URL("../src/api/schema.gen.ts", import.meta.url), header + types);
