/** Writes the service worker into the build, with the names of the files that it keeps. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const SOURCE = fileURLToPath(new URL("./src/app/service-worker.js", import.meta.url));

/** What opens a chat, by the names of vite.files.ts; the rest is kept when it was used. */
const PARTS = ["chat", "overlays", "drawer", "search-dialog"];
const CATALOGUE = /\/src\/locales\/([\w-]+)\.po\?/;
const FONT = /\/inter-latin-wght-normal-[\w-]+\.woff2$/;
const UNHASHED = ["theme.js", "icon.svg"];

export function serviceWorker(base: string): Plugin {
  return {
    name: "service-worker",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const files = new Set<string>();
        const catalogues: Record<string, string[]> = {};
        let entry = "";
        const add = (name: string) => {
          const chunk = bundle[name];
          if (files.has(name) || chunk?.type !== "chunk") return;
          files.add(name);
          if (chunk.isEntry) entry = name;
          for (const css of chunk.viteMetadata?.importedCss ?? []) files.add(css);
          for (const imported of chunk.imports) add(imported);
        };
        for (const [name, chunk] of Object.entries(bundle)) {
          const source = chunk.type === "chunk" ? (chunk.facadeModuleId ?? "") : "";
          if (chunk.type === "chunk" && (chunk.isEntry || PARTS.includes(chunk.name))) add(name);
          const language = CATALOGUE.exec(source)?.[1];
          if (language) catalogues[language] = [...(catalogues[language] ?? []), base + name];
          if (FONT.test(`/${name}`)) files.add(name);
        }
        if (!entry) this.error("the build has no entry of the page");
        const kept = [...UNHASHED, ...[...files].sort()].map((name) => base + name);
        const source = readFileSync(SOURCE, "utf8");
        const named = JSON.stringify(catalogues);
        const shell = kept.join("\n");
        const hash = createHash("sha256").update(source).update(shell).update(named).digest("hex");
        this.emitFile({
          type: "asset",
          fileName: "service-worker.js",
          source: source
            .replace('"__FILES__"', JSON.stringify(kept))
            .replace('"__CATALOGUES__"', named)
            .replace("__ENTRY__", base + entry)
            .replace("__CACHE__", `parley-${hash.slice(0, 16)}`),
        });
      },
    },
  };
}
