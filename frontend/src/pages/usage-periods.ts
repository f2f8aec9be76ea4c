/** The periods that the usage page offers, in UTC as the ledger counts them. */
import { t } from "@lingui/core/macro";
import { locale } from "@/lib/locale";

/** `2026-11`, `2026-11-21` or `last_30_days`. */
export type Period = string;

const monthName = () =>
  new Intl.DateTimeFormat(locale(), { month: "long", year: "numeric", timeZone: "UTC" });

/** `2026-11` in words. */
export const formatMonth = (month: string) => monthName().format(new Date(`${month}-01`));

export const currentMonth = (): Period => new Date().toISOString().slice(0, 7);

export function periodOptions(now: Date): { value: Period; label: string }[] {
  const { format } = monthName();
  const months = Array.from({ length: 12 }, (_, back) => {
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    return { value: first.toISOString().slice(0, 7), label: format(first) };
  });
  return [
    { value: now.toISOString().slice(0, 10), label: t`Today` },
    { value: "last_30_days", label: t`Last 30 days` },
    ...months,
  ];
}
