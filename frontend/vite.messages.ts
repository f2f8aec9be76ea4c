/**
 * What the page says, at build time: Lingui's macros become calls with the English message, and the
 * catalogues of the other languages become modules (vite.catalogues.ts).
 *
 * English has no catalogue: its messages stand where they are shown. They are compiled here, so
 * that the page carries no parser of ICU messages.
 */
import { type PluginObj, transformAsync, types } from "@babel/core";
import { compileMessageOrThrow } from "@lingui/message-utils/compileMessage";
import type { Plugin, PluginOption } from "vite";
import { catalogues } from "./vite.catalogues";

const SYNTAX = /[{}'\\]/;

/** To be named in each config whose sources use the macros. */
export function messages(): PluginOption {
  return [macros(), catalogues()];
}

function macros(): Plugin {
  return {
    name: "messages",
    enforce: "pre",
    transform: {
      filter: { id: /\.tsx?$/, code: /from "@lingui\/(core|react)\/macro"/ },
      async handler(code, id) {
        const done = await transformAsync(code, {
          filename: id,
          configFile: false,
          babelrc: false,
          sourceMaps: true,
          parserOpts: { plugins: id.endsWith("x") ? ["typescript", "jsx"] : ["typescript"] },
          plugins: [["@lingui/babel-plugin-lingui-macro", { stripMessageField: false }], compile],
        });
        return { code: done?.code ?? code, map: done?.map };
      },
    },
  };
}

/** `message: "Delete {name}"` becomes `message: ["Delete ", ["name"]]`; plain text stays. */
const compile: PluginObj = {
  visitor: {
    Program: {
      exit(program) {
        program.traverse({
          ObjectProperty({ node, parent }) {
            if (!types.isIdentifier(node.key, { name: "message" })) return;
            if (!types.isStringLiteral(node.value) || !SYNTAX.test(node.value.value)) return;
            if (!parent.leadingComments?.some(({ value }) => value.trim() === "i18n")) return;
            node.value = types.valueToNode(compileMessageOrThrow(node.value.value));
          },
        });
      },
    },
  },
};
