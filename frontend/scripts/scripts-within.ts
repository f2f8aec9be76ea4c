import type { Plugin } from "vite";

/** Puts the one script of a built document into it, in place of its address. */
export function scriptsWithin(): Plugin {
  return {
    name: "scripts-within",
    enforce: "post",
    generateBundle(_options, bundle) {
      const files = Object.values(bundle);
      const script = files.find((file) => file.type === "chunk");
      const document = files.find((file) => file.fileName.endsWith(".html"));
      if (script?.type !== "chunk" || document?.type !== "asset") {
        throw new Error("A document with one script is expected.");
      }
      const code = script.code.replaceAll("</script", "<\\/script");
      const within = String(document.source).replace(
        /<script[^>]*\ssrc="[^"]*"[^>]*><\/script>/,
        () => `<script type="module">${code}</script>`,
      );
      if (within === document.source) throw new Error("The document names no script.");
      document.source = within;
      delete bundle[script.fileName];
    },
  };
}
