import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
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
      <PageLayout title={t`API key`}>
        <Notice tone="error">{errorMessage(key.error)}</Notice>
      </PageLayout>
    );
  }
  return (
    <PageLayout title={key.data.name} description={about(key.data)}>
      <KeyUsage id={id} />
      <KeyLimits id={id} />
      <KeyRequests id={id} />
      <Section title={t`Quickstart`}>
        <Quickstart />
      </Section>
    </PageLayout>
  );
}

function about(key: ApiKey): string {
  const { prefix, project, created_by: name } = key;
  const day = formatDay(key.created_at);
  return t`${prefix}… of ${project}, made by ${name} on ${day}.`;
}

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
    [t`Requests`, formatTokens(outcomes.data?.requests ?? 0)],
    [t({ message: "Failed", context: "requests" }), formatTokens(outcomes.data?.failed ?? 0)],
    [t`Input tokens`, formatTokens(own?.input_tokens ?? 0)],
    [t`Output tokens`, formatTokens(own?.output_tokens ?? 0)],
    [t`Cost`, formatCost(own?.cost ?? "0", usage.data?.currency ?? "USD")],
  ];
  const failed = outcomes.data?.data.filter((row) => row.code || row.status >= 400) ?? [];
  return (
    <Section title={t`Last 30 days`}>
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
          label={t`Errors`}
          headings={[t`Error`, t`Status`, t({ message: "Path", context: "of a URL" }), t`Requests`]}
          rows={failed.map((row) => [
            row.code || t`no answer`,
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
    <Section title={t`Rate limits`}>
      {limits.error && <Notice tone="error">{errorMessage(limits.error)}</Notice>}
      {limits.data && (
        <Table
          label={t`Rate limits`}
          headings={[
            t({
              message: "Of the",
              context: "heading above: organization, user, API key, project",
            }),
            t`Requests a minute`,
            t`Tokens a minute`,
            t({ message: "At a time", context: "requests" }),
            t({ message: "Full again in", context: "a rate limit, seconds" }),
          ]}
          rows={limits.data.map((one) => [
            [holderOf(one), one.model].filter(Boolean).join(", "),
            left(one.requests_remaining, one.requests_limit),
            left(one.tokens_remaining, one.tokens_limit),
            left(one.concurrent_limit - one.concurrent_running, one.concurrent_limit),
            inSeconds(resetOf(one)),
          ])}
        />
      )}
    </Section>
  );
}

function left(remaining: number, limit: number): string {
  const [rest, all] = [formatTokens(Math.max(0, remaining)), formatTokens(limit)];
  return t`${rest} of ${all} left`;
}

function inSeconds(duration: number): string {
  const seconds = formatTokens(Math.ceil(duration));
  return t({ message: `${seconds} s`, context: "seconds" });
}

/** As backend/generation/admission/scopes.py calls them. */
const HOLDERS: Record<string, MessageDescriptor> = {
  organization: msg({ message: "organization", context: "whose rate limit" }),
  user: msg({ message: "user", context: "whose rate limit" }),
  "API key": msg({ message: "API key", context: "whose rate limit" }),
  project: msg({ message: "project", context: "whose rate limit" }),
};

function holderOf({ holder }: KeyLimit): string {
  const name = HOLDERS[holder];
  return name ? t(name) : holder;
}

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
