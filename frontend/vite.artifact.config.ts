/**
 * The frame that shows artifacts (src/artifact-frame): one file, its script within it, so that its
 * policy, which what it shows inherits, needs to allow no file of our origin.
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { scriptsWithin } from "./scripts/scripts-within";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  base: "/static/app/artifact/",
  publicDir: false,
  plugins: [scriptsWithin()],
  build: {
    outDir: "../backend/static/app/artifact",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    rollupOptions: { input: here("./artifact.html") },
  },
});
