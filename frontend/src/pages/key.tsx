import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import { getUsage } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { getKey, getKeyLimits, getKeyOutcomes } from "@/api/request-logs";
import type { ApiKey, KeyLimit } from "@/api/types";
import { formatDay } from "@/lib/time";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { KeyRequests } from "./key-requests";
import { PageLayout, Section } from "./page-layout";
import { Quickstart } from "./quickstart";
import { formatCost, formatTokens } from "./usage-format";

const LIMITS_MS = 5_000;

/** One API key: what it may, what it has done, what it was answered, and how to begin. */
export function KeyPage() {
  const { id = "" } = useParams();
  const key = useQuery({ queryKey: ["keys", id], queryFn: () => getKey(id) });
  if (key.isPending) return <Loading />;
  if (key.isError) {
    return (
      <PageLayout title="API key">
        <Notice tone="error">{errorMessage(key.error)}</Notice>
      </PageLayout>
    );
  }
  return (
    <PageLayout title={key.data.name} description={about(key.data)}>
      <KeyUsage id={id} />
      <KeyLimits id={id} />
      <KeyRequests id={id} />
      <Section title="Quickstart">
        <Quickstart />
      </Section>
    </PageLayout>
  );
}

const about = (key: ApiKey) =>
  `${key.prefix}… of ${key.project}, made by ${key.created_by} on ${formatDay(key.created_at)}.`;

function KeyUsage({ id }: { id: string }) {
  const usage = useQuery({
    queryKey: ["usage", "last_30_days", "key", ""],
    queryFn: () => getUsage("last_30_days", "key", ""),
  });
  const outcomes = useQuery({
    queryKey: ["keys", id, "outcomes"],
    queryFn: () => getKeyOutcomes(id),
  });
  const own = usage.data?.data.find((row) => row.key === id);
  const error = usage.error ?? outcomes.error;
  const figures: [string, string][] = [
    ["Requests", formatTokens(outcomes.data?.requests ?? 0)],
    ["Failed", formatTokens(outcomes.data?.failed ?? 0)],
    ["Input tokens", formatTokens(own?.input_tokens ?? 0)],
    ["Output tokens", formatTokens(own?.output_tokens ?? 0)],
    ["Cost", formatCost(own?.cost ?? "0", usage.data?.currency ?? "USD")],
  ];
  const failed = outcomes.data?.data.filter((row) => row.code || row.status >= 400) ?? [];
  return (
    <Section title="Last 30 days">
      {error && <Notice tone="error">{errorMessage(error)}</Notice>}
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 text-sm sm:grid-cols-5">
        {figures.map(([label, value]) => (
          <div key={label} className="flex flex-col">
            <dt className="text-muted-foreground text-xs">{label}</dt>
            <dd className="tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      {failed.length > 0 && (
        <Table
          label="Errors"
          headings={["Error", "Status", "Path", "Requests"]}
          rows={failed.map((row) => [
            row.code || "no answer",
            String(row.status),
            row.path,
            formatTokens(row.requests),
          ])}
        />
      )}
    </Section>
  );
}

/** Asked for anew every few seconds: what is left changes with every request. */
function KeyLimits({ id }: { id: string }) {
  const limits = useQuery({
    queryKey: ["keys", id, "limits"],
    queryFn: () => getKeyLimits(id),
    refetchInterval: LIMITS_MS,
  });
  return (
    <Section title="Rate limits">
      {limits.error && <Notice tone="error">{errorMessage(limits.error)}</Notice>}
      {limits.data && (
        <Table
          label="Rate limits"
          headings={[
            "Of the",
            "Requests a minute",
            "Tokens a minute",
            "At a time",
            "Full again in",
          ]}
          rows={limits.data.map((one) => [
            one.model ? `${one.holder}, ${one.model}` : one.holder,
            left(one.requests_remaining, one.requests_limit),
            left(one.tokens_remaining, one.tokens_limit),
            left(one.concurrent_limit - one.concurrent_running, one.concurrent_limit),
            `${Math.ceil(resetOf(one))} s`,
          ])}
        />
      )}
    </Section>
  );
}

const left = (remaining: number, limit: number) =>
  `${formatTokens(Math.max(0, remaining))} of ${formatTokens(limit)} left`;

const resetOf = (one: KeyLimit) => Math.max(one.requests_reset_s, one.tokens_reset_s);

interface TableProps {
  label: string;
  headings: string[];
  rows: string[][];
}

function Table({ label, headings, rows }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    <section tabIndex={0} aria-label={label} className="overflow-x-auto">
      <table className="w-full border-collapse text-start text-sm tabular-nums">
        <thead>
          <tr className="border-border border-b text-muted-foreground text-xs">
            {headings.map((heading) => (
              <th key={heading} className="py-2 pe-4 font-medium">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.join(" ")} className="border-border border-b last:border-b-0">
              {row.map((cell, column) => (
                <td key={headings[column]} className="py-2.5 pe-4">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
