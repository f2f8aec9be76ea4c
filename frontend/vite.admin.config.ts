import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The admin's Alpine: one classic script, because unfold's pages load it as one. */
export default defineConfig({
  publicDir: false,
  build: {
    outDir: "../backend/static/app/admin",
    emptyOutDir: true,
    lib: {
      entry: here("./admin/alpine.ts"),
      formats: ["iife"],
      name: "ParleyAdmin",
      fileName: () => "alpine.js",
    },
  },
});
