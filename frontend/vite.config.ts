import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const backend = process.env.PARLEY_DEV_BACKEND ?? "http://127.0.0.1:8000";

export default defineConfig({
  base: "/static/app/",
  plugins: [react(), tailwindcss()],
  resolve: {
    alias: [
      { find: "@", replacement: here("./src") },
      // The code highlighter imports every language that Shiki knows; the page offers the
      // ones that chats are about (docs/frontend.md).
      { find: /^shiki$/, replacement: here("./src/markdown/shiki.ts") },
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
  },
  server: {
    port: 5173,
    proxy: {
      "/api": { target: backend },
      "/ws": { target: backend, ws: true },
    },
  },
  test: {
    environment: "jsdom",
    include: ["{src,admin}/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test-setup.ts"],
    css: false,
    restoreMocks: true,
    // For machines that do other work beside; a test that passes takes a fraction.
    testTimeout: 60_000,
    server: { deps: { inline: ["@streamdown/code"] } },
  },
});
