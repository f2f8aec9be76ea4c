/** Whoever imports this has the file "parser" (vite.files.ts) run: what text is read by. */
export const parser = "run";
