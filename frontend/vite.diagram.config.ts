/**
 * The frame that draws diagrams (src/diagram-frame): a build of its own, so that the page's chunks
 * are not cut by what it shares with Mermaid.
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  base: "/static/app/diagram/",
  publicDir: false,
  build: {
    outDir: "../backend/static/app/diagram",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rollupOptions: { input: here("./diagram.html") },
  },
});
