import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { ChartColumn } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { getUsage } from "@/api/account";
import { managesMoney, seesAllUsage } from "@/api/billing";
import { errorMessage } from "@/api/errors";
import { allProjects, projectName } from "@/api/teams";
import type { UsageGroup, UsageSummary } from "@/api/types";
import { useMe } from "@/app/session";
import { Notice } from "@/ui/notice";
import { Segmented } from "@/ui/segmented";
import { Select } from "@/ui/select";
import { Loading } from "@/ui/spinner";
import { EmptyState, PageLayout } from "./page-layout";
import { Budgets } from "./usage-budgets";
import { formatCost, formatTokens } from "./usage-format";
import { groupOptions } from "./usage-groups";
import { Invoices } from "./usage-invoices";
import { currentMonth, type Period, periodOptions } from "./usage-periods";
import { UsageTable } from "./usage-table";

// The chart library is as large as the rest of the page; only this page loads it.
const UsageChart = lazy(async () => ({ default: (await import("./usage-chart")).UsageChart }));

const groups: UsageGroup[] = ["day", "model", "key", "user", "project"];
const ownGroups = groups.filter((group) => group !== "user");

/** Who manages the organization's money sees all members' usage; others see their own. */
export function UsagePage() {
  const { role } = useMe();
  const everybody = seesAllUsage(role);
  const money = managesMoney(role);
  const [period, setPeriod] = useState<Period>(currentMonth);
  const [group, setGroup] = useState<UsageGroup>("day");
  const [project, setProject] = useState("");
  const projects = useQuery({ queryKey: ["projects", "all"], queryFn: allProjects });
  const usage = useQuery({
    queryKey: ["usage", period, group, project],
    queryFn: () => getUsage(period, group, project),
    placeholderData: (previous, query) => (query?.queryKey[1] === period ? previous : undefined),
  });
  return (
    <PageLayout
      title={t`Usage`}
      description={
        everybody
          ? t`Every generation of your organization, from the ledger that it is billed from. Times are UTC.`
          : t`Every generation of yours, from the ledger that it is billed from. Times are UTC.`
      }
      action={
        <div className="flex flex-wrap gap-2">
          <Select
            quiet
            label={t`Project`}
            value={project}
            onChange={setProject}
            options={[
              { value: "", label: t`All projects` },
              ...(projects.data ?? []).map((one) => ({ value: one.id, label: projectName(one) })),
            ]}
          />
          <PeriodPicker value={period} onChange={setPeriod} />
        </div>
      }
    >
      {usage.isError && usage.data && <Notice tone="error">{errorMessage(usage.error)}</Notice>}
      {usage.isPending ? (
        <Loading />
      ) : !usage.data ? (
        <Notice tone="error">{errorMessage(usage.error)}</Notice>
      ) : (
        <>
          <Totals usage={usage.data} />
          {money && <Budgets />}
          <section className="flex flex-col gap-4">
            <div className="flex flex-wrap items-center justify-between gap-3">
              <h2 className="font-semibold text-base">
                <Trans>Tokens</Trans>
              </h2>
              <Segmented
                label={t`Group by`}
                value={group}
                onChange={setGroup}
                options={groupOptions(everybody ? groups : ownGroups)}
              />
            </div>
            {usage.data.input_tokens + usage.data.output_tokens === 0 ? (
              <EmptyState icon={<ChartColumn aria-hidden />}>
                <Trans>Nothing was used in this period.</Trans>
              </EmptyState>
            ) : (
              <>
                <Suspense fallback={<div className="h-72" />}>
                  <UsageChart rows={usage.data.data} group={group} currency={usage.data.currency} />
                </Suspense>
                <UsageTable rows={usage.data.data} group={group} currency={usage.data.currency} />
              </>
            )}
          </section>
        </>
      )}
      {money && <Invoices />}
    </PageLayout>
  );
}

function Totals({ usage }: { usage: UsageSummary }) {
  const items = [
    { label: t`Cost`, value: formatCost(usage.cost, usage.currency) },
    { label: t`Input tokens`, value: formatTokens(usage.input_tokens) },
    { label: t`of these, cached`, value: formatTokens(usage.cached_input_tokens) },
    ...(usage.image_tokens > 0
      ? [{ label: t`of these, images`, value: formatTokens(usage.image_tokens) }]
      : []),
    { label: t`Output tokens`, value: formatTokens(usage.output_tokens) },
    { label: t`of these, reasoning`, value: formatTokens(usage.reasoning_tokens) },
    ...(usage.cached_output_tokens > 0
      ? [{ label: t`of these, reused`, value: formatTokens(usage.cached_output_tokens) }]
      : []),
  ];
  return (
    <dl className="grid grid-cols-2 gap-3 md:auto-cols-fr md:grid-flow-col md:grid-cols-none">
      {items.map(({ label, value }) => (
        <div
          key={label}
          className="flex flex-col gap-1 rounded-2xl border border-border px-4 py-3.5"
        >
          <dt className="text-muted-foreground text-xs">{label}</dt>
          <dd className="font-semibold text-xl tabular-nums tracking-tight">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function PeriodPicker({ value, onChange }: { value: Period; onChange: (value: Period) => void }) {
  return (
    <label className="flex items-center gap-2 text-sm">
      <span className="sr-only">
        <Trans context="of time">Period</Trans>
      </span>
      <select
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="h-10 cursor-pointer rounded-full border border-border bg-background px-4 hover:bg-hover"
      >
        {periodOptions(new Date()).map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}
