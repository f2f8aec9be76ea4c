/**
 * The language of the page: which one it is, its catalogue, and how its dates and numbers are
 * written. It is known before the first render and stays until the page is loaded anew.
 */
import { i18n, type Messages } from "@lingui/core";
import { readStored, removeStored, writeStored } from "./storage";

/** By its own name, as its readers look for it. Each but English has `src/locales/{key}.po`. */
export const LANGUAGES = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  pt: "Português",
  ja: "日本語",
  "zh-CN": "简体中文",
  ar: "العربية",
} as const;

export type Language = keyof typeof LANGUAGES;

const KEY = "parley.language";
const RIGHT_TO_LEFT: Language[] = ["ar"];
type Catalogue = { messages: Messages };
// What the pages before the sign-in say, and what all others do (vite.catalogues.ts).
const first = import.meta.glob<Catalogue>("../locales/*.po", { query: "?first" });
const rest = import.meta.glob<Catalogue>("../locales/*.po", { query: "?rest" });

// What stands in the sources is compiled when they are built (vite.messages.ts).
i18n.setMessagesCompiler((message) => [message]);

let isActive = () => {};
/** The router asks for the rest while the first part is still on its way. */
const active = new Promise<void>((resolve) => {
  isActive = resolve;
});

/** The page's language. */
export const language = (): Language => i18n.locale as Language;

/**
 * The BCP 47 tag that dates, numbers and lists are written by: the page's language as this browser
 * wants it (`en-GB`), else the language alone.
 */
export function locale(): string {
  return navigator.languages.find((tag) => languageOf(tag) === language()) ?? language();
}

export const direction = (of: Language = language()): "ltr" | "rtl" =>
  RIGHT_TO_LEFT.includes(of) ? "rtl" : "ltr";

/** Begins to speak the chosen language; awaited before the first render. */
export async function activate(wanted: Language = chosen() ?? preferred()): Promise<void> {
  let used = wanted;
  try {
    i18n.loadAndActivate({ locale: wanted, messages: await messagesOf(first, wanted) });
  } catch {
    // It can't be loaded: the page is there, in the language of the sources.
    used = "en";
    i18n.loadAndActivate({ locale: used, messages: {} });
  }
  document.documentElement.lang = used;
  document.documentElement.dir = direction(used);
  // The server knows only what the browser speaks.
  document
    .querySelector("link[rel=manifest]")
    ?.setAttribute("href", `/manifest.webmanifest?language=${used}`);
  isActive();
}

/** The rest of the language; awaited before a page of which the entry knows nothing. */
export async function loadRest(): Promise<void> {
  await active;
  // It can't be loaded: that part is in the language of the sources.
  const messages = await messagesOf(rest, language()).catch(() => ({}));
  i18n.load(language(), messages);
}

async function messagesOf(
  catalogues: Record<string, () => Promise<Catalogue>>,
  of: Language,
): Promise<Messages> {
  return (await catalogues[`../locales/${of}.po`]?.())?.messages ?? {};
}

/** What was chosen in this browser, or null: as its languages say. */
export function chosen(): Language | null {
  const stored = readStored(KEY);
  return isLanguage(stored) ? stored : null;
}

/** The account's choice becomes this browser's; an empty one leaves it as it is. */
export function follow(account: string, reload?: () => void): void {
  // A catalogue that can't be loaded is asked for once, and not for ever.
  if (!isLanguage(account) || account === chosen()) return;
  if (account === language()) writeStored(KEY, account);
  else choose(account, reload);
}

/** Keeps the choice, and loads the page anew in it. */
export function choose(wanted: Language | null, reload = () => window.location.reload()): void {
  if (wanted) writeStored(KEY, wanted);
  else removeStored(KEY);
  // A browser that keeps nothing would come back in the same language.
  if (chosen() === wanted) reload();
}

/** For a `<select>`. */
export const languageOptions = (Object.keys(LANGUAGES) as Language[]).map((value) => ({
  value,
  label: LANGUAGES[value],
  lang: value,
}));

export const isLanguage = (value: unknown): value is Language =>
  typeof value === "string" && Object.hasOwn(LANGUAGES, value);

/** The first of the browser's languages that the page speaks, else English. */
function preferred(): Language {
  for (const tag of navigator.languages) {
    const found = languageOf(tag);
    if (found) return found;
  }
  return "en";
}

/** A language alone, or as it is spoken somewhere. */
const PLAIN = /^([a-z]{2})(?:-[A-Z]{2})?$/;

/** Ours of a BCP 47 tag: of its language, and written as ours (`zh-TW` is not `zh-CN`). */
function languageOf(tag: string): Language | undefined {
  // Chinese alone is written by the place. To ask the browser how takes as long as to draw a message.
  const plain = PLAIN.exec(tag)?.[1];
  if (isLanguage(plain)) return plain;
  const wanted = written(tag);
  return (Object.keys(LANGUAGES) as Language[]).find((known) => written(known) === wanted);
}

function written(tag: string): string {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return `${language}-${script}`;
  } catch {
    return tag;
  }
}
