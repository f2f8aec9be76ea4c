/**
 * The catalogues (src/locales/*.po) as modules, each in two parts, so that a visitor who signs in
 * does not load what the whole product says: `?first` has the messages of what the page's entry
 * imports, `?rest` the others.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createCompiledCatalog, getCatalogs } from "@lingui/cli/api";
import { getConfig } from "@lingui/conf";
import type { Plugin } from "vite";

/** The entry, and what it asks for when the API refuses a sign-in. */
const ENTRIES = ["src/main.tsx", "src/api/error-texts.ts"];
const IMPORT = /^(?:import|export)(?! type)\b[^"';]*?"((?:@|\.{1,2})\/[^"]+)"/gm;
const CATALOGUE = /\/([\w-]+)\.po\?(first|rest)$/;

export function catalogues(): Plugin {
  const config = getConfig();
  return {
    name: "catalogues",
    transform: {
      filter: { id: CATALOGUE },
      async handler(_source, id) {
        const [, language = "", part] = CATALOGUE.exec(id) ?? [];
        const [catalogue] = await getCatalogs(config);
        const entries = Object.entries((await catalogue?.read(language)) ?? {});
        const first = reached(config.rootDir ?? ".");
        const chosen = entries.filter(([, { origin = [] }]) => {
          return (part === "first") === origin.some(([file]) => first.has(file));
        });
        const { source, errors } = createCompiledCatalog(
          language,
          // What is not translated yet is said in English.
          Object.fromEntries(
            chosen.map(([key, { translation, message }]) => [key, translation || message || key]),
          ),
          { namespace: "es" },
        );
        if (errors[0]) this.error(`${language}.po: ${errors[0].error.message}`);
        return { code: source, map: null, moduleType: "js" };
      },
    },
  };
}

/** The files that the entries import, themselves or through others, from the root's folder. */
function reached(root: string): Set<string> {
  const found = new Set<string>();
  const visit = (file: string) => {
    if (found.has(file)) return;
    found.add(file);
    for (const [, from = ""] of readFileSync(join(root, file), "utf8").matchAll(IMPORT)) {
      const base = from.startsWith("@/")
        ? join("src", from.slice(2))
        : resolve("/", dirname(file), from).slice(1);
      const there = [`${base}.ts`, `${base}.tsx`].find((path) => existsSync(join(root, path)));
      if (there) visit(there);
    }
  };
  ENTRIES.forEach(visit);
  return found;
}
