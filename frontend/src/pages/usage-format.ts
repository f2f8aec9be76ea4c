const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

/** A day of the ledger, which counts in UTC, from `YYYY-MM-DD`. */
export const formatUtcDay = (isoDay: string) => day.format(new Date(isoDay));

export const formatTokens = (count: number) => whole.format(count);

export const formatTokensShort = (count: number) => short.format(count);

/** Dollars as the ledger has them: two places, or as many as a small amount needs to be seen. */
export function formatCost(usd: string): string {
  const value = Number(usd);
  const digits = value !== 0 && Math.abs(value) < 0.01 ? 6 : 2;
  return new Intl.NumberFormat("en-US", {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(value);
}
