import type { UsageGroup, UsageRow } from "@/api/types";
import { formatCost, formatTokens, formatUtcDay } from "./usage-format";

const headings: Record<UsageGroup, string> = {
  day: "Day",
  model: "Model",
  key: "Key",
  user: "Member",
  project: "Project",
};

// The API lists every day of a period, for the chart.
const isUsed = (row: UsageRow) => row.input_tokens + row.output_tokens > 0;

interface UsageTableProps {
  rows: UsageRow[];
  group: UsageGroup;
  currency: string;
}

/** The chart's numbers, exactly, and for those who cannot see it. */
export function UsageTable({ rows, group, currency }: UsageTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    <section tabIndex={0} aria-label="Usage in numbers" className="overflow-x-auto">
      <table className="w-full border-collapse text-sm tabular-nums">
        <thead>
          <tr className="border-border border-b text-left text-muted-foreground text-xs">
            <th className="py-2 pr-4 font-medium">{headings[group]}</th>
            <th className="py-2 pr-4 text-right font-medium">Input</th>
            <th className="py-2 pr-4 text-right font-medium">Output</th>
            <th className="py-2 text-right font-medium">Cost</th>
          </tr>
        </thead>
        <tbody>
          {rows.filter(isUsed).map((row) => (
            <tr key={row.key} className="border-border border-b last:border-b-0">
              <th scope="row" className="py-2.5 pr-4 text-left font-normal">
                {group === "day" ? formatUtcDay(row.key) : row.label || row.key || "Chat page"}
              </th>
              <td className="py-2.5 pr-4 text-right">{formatTokens(row.input_tokens)}</td>
              <td className="py-2.5 pr-4 text-right">{formatTokens(row.output_tokens)}</td>
              <td className="py-2.5 text-right">{formatCost(row.cost, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
