import { afterEach, describe, expect, it, vi } from "vitest";
import { activate, choose, chosen, direction, follow, language, locale } from "./locale";

const browserSpeaks = (...tags: string[]) =>
  vi.spyOn(navigator, "languages", "get").mockReturnValue(tags);

afterEach(async () => {
  localStorage.clear();
  await activate("en");
});

describe("activate", () => {
  it.each([
    [["de-AT", "en"], "de", "de-AT"],
    [["sv", "fr-CA"], "fr", "fr-CA"],
    [["pt-PT"], "pt", "pt-PT"],
    [["zh-TW", "ja"], "ja", "ja"],
    [["zh-SG"], "zh-CN", "zh-SG"],
    [["en-GB"], "en", "en-GB"],
    [["ar-EG"], "ar", "ar-EG"],
    [["zh-HK", "zh"], "zh-CN", "zh"],
    [["ja-Latn", "de-CH"], "de", "de-CH"],
    [["sv"], "en", "en"],
    [["not a tag"], "en", "en"],
    [[], "en", "en"],
  ])("of a browser that speaks %j it is %s, written as %s", async (tags, used, written) => {
    browserSpeaks(...tags);
    await activate();
    expect([language(), locale()]).toEqual([used, written]);
    expect(document.documentElement.lang).toBe(used);
  });

  it("takes what was chosen before what the browser speaks", async () => {
    browserSpeaks("de");
    choose("ar", vi.fn());
    await activate();
    expect(document.documentElement).toHaveAttribute("lang", "ar");
    expect(document.documentElement).toHaveAttribute("dir", "rtl");
    expect([direction(), locale()]).toEqual(["rtl", "ar"]);
  });

  it("names the language to the app's manifest", async () => {
    document.head.innerHTML = '<link rel="manifest" href="/manifest.webmanifest">';
    await activate("pt");
    expect(document.querySelector("link")).toHaveAttribute(
      "href",
      "/manifest.webmanifest?language=pt",
    );
  });

  it("has only languages that are there", async () => {
    browserSpeaks("ja");
    localStorage.setItem("parley.language", "toString");
    await activate();
    expect(language()).toBe("ja");
  });
});

it("loads the rest after the first part, when asked before it too", async () => {
  const module = "./locale?anew";
  const anew: typeof import("./locale") = await import(/* @vite-ignore */ module);
  const { i18n } = await import("@lingui/core");
  browserSpeaks("de");
  const rest = anew.loadRest();
  await anew.activate();
  const first = Object.keys(i18n.messages).length;
  await rest;
  expect(first).toBeGreaterThan(0);
  expect(Object.keys(i18n.messages).length).toBeGreaterThan(first);
});

describe("a choice", () => {
  it("is kept, and loads the page anew", () => {
    const reload = vi.fn();
    choose("ja", reload);
    expect(chosen()).toBe("ja");
    choose(null, reload);
    expect(chosen()).toBeNull();
    expect(reload).toHaveBeenCalledTimes(2);
  });

  it("reloads nothing where the browser keeps nothing", () => {
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new Error("blocked");
    });
    const reload = vi.fn();
    choose("ja", reload);
    expect(reload).not.toHaveBeenCalled();
  });

  it("of the account becomes the browser's, once", () => {
    const reload = vi.fn();
    follow("", reload);
    follow("en", reload);
    expect(reload).not.toHaveBeenCalled();
    follow("fr", reload);
    follow("fr", reload);
    expect(reload).toHaveBeenCalledTimes(1);
    expect(chosen()).toBe("fr");
  });
});
