// Writes src/api/schema.gen.ts from a running product's OpenAPI document.
import { writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const backend = process.env.PARLEY_DEV_BACKEND ?? "http://127.0.0.1:8000";
const target = new URL("../src/api/schema.gen.ts", import.meta.url);

const types = astToString(await openapiTS(new URL("/openapi.json", backend)));
const header = "// Generated from /openapi.json by `npm run schema`; not edited by hand.\n\n";
await writeFile(target, header + types);
