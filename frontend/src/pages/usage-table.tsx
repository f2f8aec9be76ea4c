import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { UsageGroup, UsageRow } from "@/api/types";
import { formatCost, formatTokens, formatUtcDay } from "./usage-format";
import { groupName, rowName } from "./usage-groups";

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
    <section tabIndex={0} aria-label={t`Usage in numbers`} className="overflow-x-auto">
      <table className="w-full border-collapse text-sm tabular-nums">
        <thead>
          <tr className="border-border border-b text-start text-muted-foreground text-xs">
            <th className="py-2 pe-4 font-medium">{groupName(group)}</th>
            <th className="py-2 pe-4 text-end font-medium">
              <Trans context="tokens">Input</Trans>
            </th>
            {sees && (
              <th className="py-2 pe-4 text-end font-medium">
                <Trans>of it, images</Trans>
              </th>
            )}
            <th className="py-2 pe-4 text-end font-medium">
              <Trans context="tokens">Output</Trans>
            </th>
            {reasons && (
              <th className="py-2 pe-4 text-end font-medium">
                <Trans>of it, reasoning</Trans>
              </th>
            )}
            <th className="py-2 text-end font-medium">
              <Trans>Cost</Trans>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.filter(isUsed).map((row) => (
            <tr key={row.key} className="border-border border-b last:border-b-0">
              <th scope="row" className="py-2.5 pe-4 text-start font-normal">
                {group === "day" ? formatUtcDay(row.key) : rowName(row)}
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
