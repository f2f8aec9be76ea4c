/**
 * Stands in for the package "shiki" (vite.config.ts) in the worker that colours: the same names, but
 * only the languages that chats are about, of which the page sends the grammars. No WebAssembly: the
 * strict CSP allows none, so the JavaScript engine of @streamdown/code does the matching.
 */
import { createBundledHighlighter } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import darkTheme from "shiki/themes/github-dark.mjs";
import lightTheme from "shiki/themes/github-light-high-contrast.mjs";
import type { Grammar } from "./grammars";
import { LANGUAGES, type Language } from "./language-names";

const sent = new Map<Language, Grammar>();

/** Before a language is first coloured. */
export function take(language: Language, grammar: Grammar): void {
  sent.set(language, grammar);
}

export const bundledLanguages = Object.fromEntries(
  LANGUAGES.map((language) => [language, async () => sent.get(language) ?? []]),
);

/** The page says which language a name means (language-names.ts). */
export const bundledLanguagesInfo = LANGUAGES.map((id) => ({ id, aliases: [] }));

export const bundledThemes = {
  "github-dark": async () => darkTheme,
  "github-light-high-contrast": async () => lightTheme,
};

export const createHighlighter = createBundledHighlighter({
  langs: bundledLanguages,
  themes: bundledThemes,
  engine: () => createJavaScriptRegexEngine({ forgiving: true }),
});
