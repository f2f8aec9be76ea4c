// Prints how much script, compressed, the first load of a page brings, from the build's manifest.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const built = fileURLToPath(new URL("../../backend/static/app/", import.meta.url));
const manifest = JSON.parse(readFileSync(`${built}.vite/manifest.json`, "utf8"));

/** The key of a part of vite.files.ts. */
const part = (name) =>
  Object.keys(manifest).find(
    (key) => key.startsWith(`_${name}-`) && key.endsWith(".js") && manifest[key].name === name,
  );
const PAGES = {
  "sign-in": ["index.html"],
  "new chat": ["index.html", part("chat")],
  conversation: ["index.html", part("chat"), part("answers")],
};
// Each other language than English adds a catalogue to the first page.
for (const name of Object.keys(manifest)) {
  const language = /^src\/locales\/(.+)\.po\?first$/.exec(name)?.[1];
  if (language) PAGES[`sign-in in ${language}`] = ["index.html", name];
}

function scripts(entries) {
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const imported of manifest[name].imports ?? []) visit(imported);
  };
  for (const entry of entries) visit(entry);
  return [...new Set([...seen].map((name) => manifest[name].file))];
}

for (const [page, entries] of Object.entries(PAGES)) {
  const files = scripts(entries).map((file) => readFileSync(built + file));
  const bytes = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
  process.stdout.write(`${page}: ${(bytes / 1024).toFixed(1)} KiB in ${files.length} scripts\n`);
}
