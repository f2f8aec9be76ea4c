/** Dates for people: the sidebar's groups and the pages' stamps. */

const DAY_MS = 86_400_000;
const monthName = new Intl.DateTimeFormat(undefined, { month: "long" });
const monthAndYear = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The heading under which a conversation of that time stands, in the reader's own time zone. */
export function dateGroup(iso: string, now: Date): string {
  const date = new Date(iso);
  const days = Math.round((startOfDay(now) - startOfDay(date)) / DAY_MS);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days <= 7) return "Previous 7 days";
  if (days <= 30) return "Previous 30 days";
  return date.getFullYear() === now.getFullYear()
    ? monthName.format(date)
    : monthAndYear.format(date);
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

export const formatDay = (iso: string) => day.format(new Date(iso));

export const formatDayAndTime = (iso: string) => dayAndTime.format(new Date(iso));

/** `1:05`, `0:09`: what is left of a wait. */
export function formatCountdown(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
