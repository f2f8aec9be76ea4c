import { t } from "@lingui/core/macro";
import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import type { UsageGroup, UsageRow } from "@/api/types";
import { direction } from "@/lib/locale";
import { formatCost, formatTokens, formatTokensShort, formatUtcDayShort } from "./usage-format";
import { rowName } from "./usage-groups";

interface UsageChartProps {
  rows: UsageRow[];
  group: UsageGroup;
  currency: string;
}

/** Input and output tokens as stacked bars; a day without use is a gap. */
export function UsageChart({ rows, group, currency }: UsageChartProps) {
  const label = (key: string) => {
    if (group === "day") return formatUtcDayShort(key);
    const row = rows.find((one) => one.key === key);
    return row ? rowName(row) : key;
  };
  const isReversed = direction() === "rtl";
  return (
    <figure>
      <figcaption className="flex gap-5 pb-3 text-muted-foreground text-xs">
        <Legend className="bg-brand-soft" label={t({ message: "Input", context: "tokens" })} />
        <Legend className="bg-brand" label={t({ message: "Output", context: "tokens" })} />
      </figcaption>
      {/* The chart places its texts by itself, from the left; time runs as the language does. */}
      <div className="h-64" dir="ltr">
        <ResponsiveContainer width="100%" height="100%">
          <BarChart data={rows} margin={{ top: 4, right: 0, bottom: 0, left: 0 }}>
            <CartesianGrid vertical={false} stroke="var(--border)" />
            <XAxis
              dataKey="key"
              reversed={isReversed}
              tickFormatter={label}
              tickLine={false}
              axisLine={false}
              minTickGap={24}
              tick={{ fill: "var(--muted-foreground)", fontSize: 12 }}
            />
            <YAxis
              width={44}
              orientation={isReversed ? "right" : "left"}
              tickFormatter={formatTokensShort}
              tickLine={false}
              axisLine={false}
              allowDecimals={false}
              tick={{ fill: "var(--muted-foreground)", fontSize: 12 }}
            />
            <Tooltip
              cursor={{ fill: "var(--muted)" }}
              isAnimationActive={false}
              content={({ active, payload }) =>
                active && payload[0] ? (
                  <BarNote row={payload[0].payload as UsageRow} label={label} currency={currency} />
                ) : null
              }
            />
            <Bar
              dataKey="input_tokens"
              stackId="tokens"
              fill="var(--brand-soft)"
              isAnimationActive={false}
              maxBarSize={36}
            />
            <Bar
              dataKey="output_tokens"
              stackId="tokens"
              fill="var(--brand)"
              radius={[4, 4, 0, 0]}
              isAnimationActive={false}
              maxBarSize={36}
            />
          </BarChart>
        </ResponsiveContainer>
      </div>
    </figure>
  );
}

function Legend({ className, label }: { className: string; label: string }) {
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden className={`size-2.5 rounded-[3px] ${className}`} />
      {label}
    </span>
  );
}

interface BarNoteProps {
  row: UsageRow;
  label: (key: string) => string;
  currency: string;
}

function BarNote({ row, label, currency }: BarNoteProps) {
  const input = formatTokens(row.input_tokens);
  const output = formatTokens(row.output_tokens);
  const cost = formatCost(row.cost, currency);
  return (
    <div
      dir={direction()}
      className="rounded-xl border border-border bg-popover px-3 py-2 text-popover-foreground text-xs tabular-nums shadow-md"
    >
      <p className="pb-1 font-medium">{label(row.key)}</p>
      <p>{t`Input ${input}`}</p>
      <p>{t`Output ${output}`}</p>
      <p>{t`Cost ${cost}`}</p>
    </div>
  );
}
