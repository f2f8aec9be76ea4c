/** Dates for people: the sidebar's groups and the pages' stamps. */
import { t } from "@lingui/core/macro";
import { locale } from "./locale";

const DAY_MS = 86_400_000;
const written = (date: Date, style: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(locale(), style).format(date);

/** The heading under which a conversation of that time stands, in the reader's own time zone. */
export function dateGroup(iso: string, now: Date): string {
  const date = new Date(iso);
  const days = Math.round((startOfDay(now) - startOfDay(date)) / DAY_MS);
  if (days <= 0) return t`Today`;
  if (days === 1) return t`Yesterday`;
  if (days <= 7) return t`Previous 7 days`;
  if (days <= 30) return t`Previous 30 days`;
  const isThisYear = date.getFullYear() === now.getFullYear();
  return written(date, isThisYear ? { month: "long" } : { month: "long", year: "numeric" });
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

export const formatDay = (iso: string) => written(new Date(iso), { dateStyle: "medium" });

export const formatDayAndTime = (iso: string) =>
  written(new Date(iso), { dateStyle: "medium", timeStyle: "short" });

/** `1:05`, `0:09`: what is left of a wait. */
export function formatCountdown(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
