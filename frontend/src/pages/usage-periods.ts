/** The periods that the usage page offers, in UTC as the ledger counts them. */

/** `2026-11`, `2026-11-21` or `last_30_days`. */
export type Period = string;

const monthName = new Intl.DateTimeFormat(undefined, {
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});

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

/** Every day of the period as `YYYY-MM-DD`, none after today. */
export function daysOf(period: Period, now: Date): string[] {
  const today = now.toISOString().slice(0, 10);
  if (/^\d{4}-\d{2}-\d{2}$/.test(period)) return [period];
  const start =
    period === "last_30_days"
      ? new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() - 29))
      : new Date(`${period}-01T00:00:00Z`);
  const days: string[] = [];
  for (const day = new Date(start); ; day.setUTCDate(day.getUTCDate() + 1)) {
    const iso = day.toISOString().slice(0, 10);
    const inPeriod = period === "last_30_days" || iso.startsWith(period);
    if (!inPeriod || iso > today) return days;
    days.push(iso);
  }
}
