/** Where the time of an answer went: a bar, and the same in words, for its owner. */
import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { locale } from "@/lib/locale";

/** In the order in which an answer passes them. */
export const STATIONS: Record<string, { label: MessageDescriptor; fill: string }> = {
  edge: { label: msg`Request`, fill: "#64748b" },
  admission: { label: msg`Admission`, fill: "#0ea5e9" },
  pre_check: { label: msg`Prompt check`, fill: "#14b8a6" },
  queue: { label: msg`Queue`, fill: "#f59e0b" },
  prefill: { label: msg`Reading the prompt`, fill: "#8b5cf6" },
  first_token: { label: msg`First words`, fill: "#ec4899" },
  decode: { label: msg`Writing`, fill: "#22c55e" },
  post_check: { label: msg`Answer check`, fill: "#0d9488" },
  buffer: { label: msg`Delivery`, fill: "#ef4444" },
};

export function duration(milliseconds: number): string {
  if (milliseconds >= 1000) {
    const seconds = fixed(milliseconds / 1000, 1);
    return t`${seconds} s`;
  }
  const thousandths = fixed(milliseconds, milliseconds >= 10 ? 0 : 1);
  return t`${thousandths} ms`;
}

const fixed = (value: number, digits: number): string =>
  value.toLocaleString(locale(), {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false,
  });

export function StationBar({ stations }: { stations: Record<string, number> }) {
  const shown = Object.entries(STATIONS).flatMap(([name, look]) => {
    const took = stations[name];
    return took === undefined ? [] : [{ name, took, ...look }];
  });
  const whole = shown.reduce((sum, { took }) => sum + took, 0);
  if (whole === 0) return null;
  const inAll = duration(whole);
  let at = 0;
  const placed = shown.map((station) => {
    const x = at;
    const width = (100 * station.took) / whole;
    at += width;
    return { ...station, x, width };
  });
  return (
    <section aria-label={t`Where the time went: ${inAll}`}>
      <h3 className="pb-1 font-medium text-muted-foreground text-xs">
        <Trans>Where the time went: {inAll}</Trans>
      </h3>
      <svg
        aria-hidden="true"
        className="h-3 w-full rounded-full"
        viewBox="0 0 100 1"
        preserveAspectRatio="none"
      >
        {placed.map(({ name, x, width, fill }) => (
          <rect key={name} x={x} y="0" width={width} height="1" fill={fill} />
        ))}
      </svg>
      <ul className="flex flex-wrap gap-x-4 gap-y-1 pt-2 text-xs">
        {placed.map(({ name, label, took, fill }) => (
          <li key={name} className="flex items-center gap-1.5">
            <svg aria-hidden="true" className="size-2" viewBox="0 0 2 2">
              <circle cx="1" cy="1" r="1" fill={fill} />
            </svg>
            {t(label)} <span className="text-muted-foreground">{duration(took)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
