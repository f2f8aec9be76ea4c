const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

/** A day of the ledger, which counts in UTC, from `YYYY-MM-DD`. */
export const formatUtcDay = (isoDay: string) => day.format(new Date(isoDay));

export const formatTokens = (count: number) => whole.format(count);

export const formatTokensShort = (count: number) => short.format(count);

/** An exact amount of the ledger: two places, or as many as a small one needs to be seen. */
export function formatCost(amount: string, currency: string): string {
  const value = Number(amount);
  const digits = value !== 0 && Math.abs(value) < 0.01 ? 6 : 2;
  return money(currency, digits).format(value);
}

/** A document's amount, which is in whole cents. */
export const formatCents = (amount: string, currency: string) =>
  money(currency, 2).format(Number(amount));

function money(currency: string, digits: number): Intl.NumberFormat {
  return new Intl.NumberFormat("en-US", {
    style: "currency",
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  });
}
