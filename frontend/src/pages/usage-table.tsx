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
  const sees = rows.some((row) => row.image_tokens > 0);
  const reasons = rows.some((row) => row.reasoning_tokens > 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    <section tabIndex={0} aria-label="Usage in numbers" className="overflow-x-auto">
      <table className="w-full border-collapse text-sm tabular-nums">
        <thead>
          <tr className="border-border border-b text-start text-muted-foreground text-xs">
            <th className="py-2 pe-4 font-medium">{headings[group]}</th>
            <th className="py-2 pe-4 text-end font-medium">Input</th>
            {sees && <th className="py-2 pe-4 text-end font-medium">of it, images</th>}
            <th className="py-2 pe-4 text-end font-medium">Output</th>
            {reasons && <th className="py-2 pe-4 text-end font-medium">of it, reasoning</th>}
            <th className="py-2 text-end font-medium">Cost</th>
          </tr>
        </thead>
        <tbody>
          {rows.filter(isUsed).map((row) => (
            <tr key={row.key} className="border-border border-b last:border-b-0">
              <th scope="row" className="py-2.5 pe-4 text-start font-normal">
                {group === "day" ? formatUtcDay(row.key) : row.label || row.key || "Chat page"}
              </th>
              <td className="py-2.5 pe-4 text-end">{formatTokens(row.input_tokens)}</td>
              {sees && <td className="py-2.5 pe-4 text-end">{formatTokens(row.image_tokens)}</td>}
              <td className="py-2.5 pe-4 text-end">{formatTokens(row.output_tokens)}</td>
              {reasons && (
                <td className="py-2.5 pe-4 text-end">{formatTokens(row.reasoning_tokens)}</td>
              )}
              <td className="py-2.5 text-end">{formatCost(row.cost, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
