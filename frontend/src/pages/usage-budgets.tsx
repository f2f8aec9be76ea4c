import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { listBudgets } from "@/api/billing";
import { errorMessage } from "@/api/errors";
import type { Budget } from "@/api/types";
import { cn } from "@/lib/cn";
import { formatNumber } from "@/lib/numbers";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { Section } from "./page-layout";
import { formatCost } from "./usage-format";

/** What is spent this month of each budget. */
export function Budgets() {
  const budgets = useQuery({ queryKey: ["budgets"], queryFn: listBudgets });
  return (
    <Section title={t`Budgets this month`}>
      {budgets.isPending ? (
        <Loading />
      ) : !budgets.data ? (
        <Notice tone="error">{errorMessage(budgets.error)}</Notice>
      ) : budgets.data.length === 0 ? (
        <p className="text-muted-foreground text-sm">
          <Trans>
            None is set. Budgets are set over the API, for the organization, a project or a key.
          </Trans>
        </p>
      ) : (
        <ul className="grid gap-3 md:grid-cols-2">
          {budgets.data.map((budget) => (
            <BudgetBar key={budget.id} budget={budget} />
          ))}
        </ul>
      )}
    </Section>
  );
}

const scopes: Record<Budget["scope"], MessageDescriptor> = {
  organization: msg`Organization`,
  project: msg`Project`,
  key: msg({ message: "Key", context: "of the API" }),
};

/** Spent of a limit. The words say everything that the bar shows. */
export function BudgetBar({ budget }: { budget: Budget }) {
  const { percent, state } = budgetState(budget);
  const name = budget.scope === "organization" ? t`Whole organization` : budget.label;
  const spent = formatCost(budget.spent, budget.currency);
  const amount = formatCost(budget.amount, budget.currency);
  const share = formatNumber(percent);
  return (
    <li className="flex flex-col gap-3 rounded-2xl border border-border px-4 py-3.5">
      <div className="flex items-start justify-between gap-4">
        <div className="min-w-0">
          <p className="truncate font-medium text-sm">{name}</p>
          <p className="text-muted-foreground text-xs">
            {i18n._(scopes[budget.scope])} · {budget.is_hard ? t`hard limit` : t`soft limit`}
          </p>
        </div>
        <p className="shrink-0 font-semibold text-sm tabular-nums">{t`${share} %`}</p>
      </div>
      <meter
        className="sr-only"
        aria-label={t`Spent of ${name}`}
        min={0}
        max={100}
        value={Math.min(percent, 100)}
      />
      <div aria-hidden className="h-2 overflow-hidden rounded-full bg-muted">
        <div
          className={cn("h-full rounded-full", fillOf(state, budget.is_hard))}
          style={{ width: `${Math.min(percent, 100)}%` }}
        />
      </div>
      <p className="text-muted-foreground text-xs tabular-nums">
        <Trans>
          <span className="text-foreground">{spent}</span> of {amount} spent.
        </Trans>{" "}
        {i18n._(notes[state][budget.is_hard ? "hard" : "soft"])}
      </p>
    </li>
  );
}

type BudgetState = "ample" | "short" | "spent";

/** Red is for what stops requests; a soft budget never does. */
function fillOf(state: BudgetState, isHard: boolean): string {
  if (state === "ample") return "bg-brand";
  return state === "spent" && isHard ? "bg-destructive" : "bg-warning";
}

const notes: Record<BudgetState, Record<"hard" | "soft", MessageDescriptor>> = {
  ample: {
    hard: msg`Requests beyond it are refused.`,
    soft: msg`Beyond it you are notified.`,
  },
  short: {
    hard: msg`Little is left before requests are refused.`,
    soft: msg`Little is left.`,
  },
  spent: {
    hard: msg`Requests are refused.`,
    soft: msg`It is used up; requests go on.`,
  },
};

/** Whole percents, rounded down, so that 100 means reached; `short` as from the 80 % alert on. */
export function budgetState({ spent, amount }: Pick<Budget, "spent" | "amount">): {
  percent: number;
  state: BudgetState;
} {
  const limit = Number(amount);
  const share = limit > 0 ? Number(spent) / limit : 1;
  const state = share >= 1 ? "spent" : share >= 0.8 ? "short" : "ample";
  return { percent: Math.floor(share * 100), state };
}
