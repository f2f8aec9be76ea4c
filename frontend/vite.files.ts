/**
 * Which files the page is built into: what the sign-in needs, what a chat needs beside it, what opens
 * over it, and what shows its answers are one each, since a file more is one turn more to wait for on a slow line.
 * What follows from use alone (each other page, each dialog) stays apart.
 */
import { fileURLToPath } from "node:url";
import type { Plugin, Rolldown } from "vite";

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** Stays in the file that the document names. */
const ENTRY = source("main.tsx");

interface Part {
  entries: string[];
  /** Takes of what they import only these. */
  only?: RegExp;
}

const answers = [source("markdown/rendered.tsx")];

/** By the file's name, in the order of their loading: each has what those before it lack. */
const PARTS: Record<string, Part> = {
  page: { entries: [ENTRY] },
  chat: { entries: [source("app/app-shell.tsx"), source("chat/chat-page.tsx")] },
  overlays: {
    entries: ["dialog", "menu", "toast", "tooltip"].map((one) => source(`ui/${one}-window.tsx`)),
  },
  // Parts of it that run in a task of their own (markdown/markdown.tsx).
  parser: {
    entries: [source("markdown/parser-file.ts"), ...answers],
    only: /node_modules\/(marked|(micromark|mdast-util|remark)[^/]*)\/|parser-file/,
  },
  trees: {
    entries: [source("markdown/trees-file.ts"), ...answers],
    only: /node_modules\/((hast-util|property-information|rehype|unified|vfile|style-to)[^/]*|inline-style-parser)\/|trees-file/,
  },
  answers: { entries: answers },
};
/** Of which most functions are called when a chat is opened. */
const AT_ONCE = ["page", "chat", "parser", "trees", "answers"];
const ICONS = /\/lucide-react\/dist\/esm\/lucide-react\.m?js$/;
const NAMES = /(?:import|export)\s*\{([^}]*)\}\s*from\s*["']([^"']+)["']/g;

export function files(): Rolldown.CodeSplittingOptions {
  const reached: Record<string, Set<string>> = {};
  return {
    groups: Object.entries(PARTS).map(([name, { entries, only }], place, { length }) => ({
      debugName: name,
      name: (id: string, graph: Rolldown.ChunkingContext) => {
        reached[name] ??= importsOf(entries, graph);
        const taken = only?.test(id) ?? id !== ENTRY;
        return taken && reached[name].has(id) ? name : null;
      },
      priority: length - place,
    })),
  };
}

/**
 * Has Chromium compile the functions of these files while they come, beside the page: most are called
 * at its beginning, where each that is compiled when it is called makes a task longer.
 */
export function compiledAtOnce(): Plugin {
  return {
    name: "compiled-at-once",
    apply: "build",
    generateBundle: {
      // It has to stand before all that Vite puts first.
      order: "post",
      handler(_options, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type !== "chunk" || !AT_ONCE.includes(file.name)) continue;
          file.code = `//# allFunctionsCalledOnLoad\n${file.code}`;
        }
      },
    },
  };
}

/** The modules that these import, themselves or through others. */
function importsOf(entries: string[], graph: Rolldown.ChunkingContext): Set<string> {
  const found = new Set<string>();
  const visit = (id: string) => {
    if (found.has(id)) return;
    found.add(id);
    const { code, importedIds = [] } = graph.getModuleInfo(id) ?? {};
    for (const imported of importedIds) {
      if (!ICONS.test(imported)) visit(imported);
      else for (const icon of iconsOf(code ?? "", imported, graph)) visit(icon);
    }
  };
  entries.forEach(visit);
  return found;
}

/** The icons that `code` takes out of their package's index, which has all of them. */
function iconsOf(code: string, index: string, graph: Rolldown.ChunkingContext): string[] {
  const { code: icons, importedIds = [] } = graph.getModuleInfo(index) ?? {};
  const wanted = namesIn(code)
    .filter(({ from }) => from === "lucide-react")
    .map(({ name }) => name);
  return namesIn(icons ?? "")
    .filter(({ alias }) => wanted.includes(alias))
    .flatMap(({ from }) => importedIds.filter((id) => id.endsWith(from.slice(1))));
}

/** Each `name as alias` of the imports and exports from elsewhere. */
function namesIn(code: string) {
  return [...code.matchAll(NAMES)].flatMap(([, names = "", from = ""]) =>
    names.split(",").map((one) => {
      const [name = "", alias = name] = one.trim().split(/\s+as\s+/);
      return { name, alias, from };
    }),
  );
}
