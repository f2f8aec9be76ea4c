/** The frame that holds a Python (src/python-frame): one file, as the frame of artifacts. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { scriptsWithin } from "./scripts/scripts-within";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  base: "/static/app/python/",
  publicDir: false,
  plugins: [scriptsWithin()],
  build: {
    outDir: "../backend/static/app/python",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    rollupOptions: { input: here("./python.html") },
  },
});
