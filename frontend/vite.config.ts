import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { compiledAtOnce, files } from "./vite.files";
import { messages } from "./vite.messages";
import { pythonSnapshot } from "./vite.python-snapshot";
import { serviceWorker } from "./vite.service-worker";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const backend = process.env.PARLEY_DEV_BACKEND ?? "http://127.0.0.1:8000";

const BASE = "/static/app/";

export default defineConfig({
  base: BASE,
  plugins: [
    messages(),
    react(),
    tailwindcss(),
    pythonSnapshot(),
    compiledAtOnce(),
    serviceWorker(BASE),
  ],
  resolve: {
    alias: [
      { find: "@", replacement: here("./src") },
      // The code highlighter imports every language that Shiki knows; the page offers the
      // ones that chats are about (docs/frontend.md).
      { find: /^shiki$/, replacement: here("./src/markdown/shiki.ts") },
      // Parts of streamdown and remark-gfm that no answer passes through.
      {
        find: /^(rehype-raw|mdast-util-to-markdown)$/,
        replacement: here("./src/markdown/no-raw-html.ts"),
      },
    ],
  },
  build: {
    outDir: "../backend/static/app",
    emptyOutDir: true,
    manifest: true,
    // A data: URI is no font or script of our origin: the CSP would refuse it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rolldownOptions: { output: { codeSplitting: files() } },
  },
  // That of Python is begun from a `blob:` of an opaque origin, where Chromium begins no module.
  worker: { format: "iife" },
  server: {
    port: 5173,
    proxy: {
      "/api": { target: backend },
      "/manifest.webmanifest": { target: backend },
      "/ws": { target: backend, ws: true },
    },
  },
  test: {
    environment: "jsdom",
    setupFiles: ["src/test-setup.ts"],
    css: false,
    restoreMocks: true,
    // For machines that do other work beside; a test that passes takes a fraction.
    testTimeout: 60_000,
    server: { deps: { inline: ["@streamdown/code"] } },
    // All files have the same modules (src/modules.test.ts): a worker for each costs five times as much.
    isolate: false,
  },
});
