/** Whoever imports this has the file "trees" (vite.files.ts) run: what elements are made by. */
export const trees = "run";
