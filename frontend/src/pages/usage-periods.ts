/** The periods that the usage page offers, in UTC as the ledger counts them. */

/** `2026-11`, `2026-11-21` or `last_30_days`. */
export type Period = string;

const monthName = new Intl.DateTimeFormat(undefined, {
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});

/** `2026-11` in words. */
export const formatMonth = (month: string) => monthName.format(new Date(`${month}-01`));

export const currentMonth = (): Period => new Date().toISOString().slice(0, 7);

export function periodOptions(now: Date): { value: Period; label: string }[] {
  const months = Array.from({ length: 12 }, (_, back) => {
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    return { value: first.toISOString().slice(0, 7), label: monthName.format(first) };
  });
  return [
    { value: now.toISOString().slice(0, 10), label: "Today" },
    { value: "last_30_days", label: "Last 30 days" },
    ...months,
  ];
}
