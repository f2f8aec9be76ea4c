/**
 * Stands in for the package "shiki" (vite.config.ts): the same names, but only the languages that
 * chats are about, each loaded when first needed. No WebAssembly: the strict CSP allows none, so
 * the JavaScript engine of @streamdown/code does the matching.
 */
import { createBundledHighlighter } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";

interface LanguageInfo {
  id: string;
  name: string;
  aliases?: string[];
}

export const bundledLanguages = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  graphql: () => import("shiki/langs/graphql.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  ini: () => import("shiki/langs/ini.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  jsx: () => import("shiki/langs/jsx.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  lua: () => import("shiki/langs/lua.mjs"),
  make: () => import("shiki/langs/make.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  powershell: () => import("shiki/langs/powershell.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  r: () => import("shiki/langs/r.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  scala: () => import("shiki/langs/scala.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  xml: () => import("shiki/langs/xml.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
};

const aliases: Partial<Record<keyof typeof bundledLanguages, string[]>> = {
  bash: ["sh", "shell", "zsh", "console"],
  cpp: ["c++"],
  csharp: ["c#", "cs"],
  docker: ["dockerfile"],
  ini: ["properties"],
  javascript: ["js", "mjs", "cjs"],
  kotlin: ["kt"],
  make: ["makefile"],
  markdown: ["md"],
  powershell: ["ps1"],
  python: ["py", "python3"],
  ruby: ["rb"],
  rust: ["rs"],
  typescript: ["ts"],
  yaml: ["yml"],
};

export const bundledLanguagesInfo: LanguageInfo[] = Object.keys(bundledLanguages).map((id) => ({
  id,
  name: id,
  aliases: aliases[id as keyof typeof bundledLanguages] ?? [],
}));

export const bundledThemes = {
  "github-dark": () => import("shiki/themes/github-dark.mjs"),
  "github-light-high-contrast": () => import("shiki/themes/github-light-high-contrast.mjs"),
};

export const createHighlighter = createBundledHighlighter({
  langs: bundledLanguages,
  themes: bundledThemes,
  engine: () => createJavaScriptRegexEngine({ forgiving: true }),
});
