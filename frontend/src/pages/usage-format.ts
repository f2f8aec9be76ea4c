/** Amounts of the usage page, as its language writes them. */
import { locale } from "@/lib/locale";
import { formatNumber } from "@/lib/numbers";

/** A day of the ledger, which counts in UTC, from `YYYY-MM-DD`. */
export const formatUtcDay = (isoDay: string) => utcDay(isoDay, { dateStyle: "medium" });

/** The same without its year. */
export const formatUtcDayShort = (isoDay: string) =>
  utcDay(isoDay, { day: "numeric", month: "short" });

const utcDay = (isoDay: string, format: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(locale(), { ...format, timeZone: "UTC" }).format(new Date(isoDay));

export const formatTokens = (count: number) => formatNumber(count);

export const formatTokensShort = (count: number) =>
  new Intl.NumberFormat(locale(), { notation: "compact", maximumFractionDigits: 1 }).format(count);

/** An exact amount of the ledger: two places, or as many as a small one needs to be seen. */
export function formatCost(amount: string, currency: string): string {
  const value = Number(amount);
  const digits = value !== 0 && Math.abs(value) < 0.01 ? 6 : 2;
  return money(currency, digits).format(value);
}

/** A document's amount, which is in whole cents. */
export const formatCents = (amount: string, currency: string) =>
  money(currency, 2).format(Number(amount));

/** The language says how an amount is written, and the ledger of how many digits it is. */
function money(currency: string, digits: number): Intl.NumberFormat {
  return new Intl.NumberFormat(locale(), {
    style: "currency",
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  });
}
