import { afterAll, describe, expect, it } from "vitest";
import { formatCents, formatCost, formatUtcDay } from "@/pages/usage-format";
import { formatMonth } from "@/pages/usage-periods";
import { activate, type Language } from "./locale";
import { formatList, formatNumber } from "./numbers";

const SPACES = /[\u00a0\u202f]/g;

afterAll(() => activate("en"));

describe("numbers, money and days", () => {
  it.each<[Language, string[]]>([
    ["en", ["1,234.50", "a, b, c", "$0.000123", "€1,190.10", "Nov 21, 2026", "November 2026"]],
    ["de", ["1.234,50", "a, b und c", "0,000123 $", "1.190,10 €", "21.11.2026", "November 2026"]],
    ["ja", ["1,234.50", "a b c", "$0.000123", "€1,190.10", "2026/11/21", "2026年11月"]],
  ])("are written as the page's language does: %s", async (language, written) => {
    await activate(language);
    const shown = [
      formatNumber(1234.5, 2),
      formatList(["a", "b", "c"]),
      formatCost("0.000123", "USD"),
      formatCents("1190.1", "EUR"),
      formatUtcDay("2026-11-21"),
      formatMonth("2026-11"),
    ];
    expect(shown.map((one) => one.replace(SPACES, " "))).toEqual(written);
  });
});
