import { useQuery } from "@tanstack/react-query";
import { listBudgets } from "@/api/billing";
import { errorMessage } from "@/api/errors";
import type { Budget } from "@/api/types";
import { cn } from "@/lib/cn";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { Section } from "./page-layout";
import { formatCost } from "./usage-format";

/** What is spent this month of each budget. */
export function Budgets() {
  const budgets = useQuery({ queryKey: ["budgets"], queryFn: listBudgets });
  return (
    <Section title="Budgets this month">
      {budgets.isPending ? (
        <Loading />
      ) : !budgets.data ? (
        <Notice tone="error">{errorMessage(budgets.error)}</Notice>
      ) : budgets.data.length === 0 ? (
        <p className="text-muted-foreground text-sm">
          None is set. Budgets are set over the API, for the organization, a project or a key.
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

const scopes = { organization: "Organization", project: "Project", key: "Key" } as const;

/** Spent of a limit. The words say everything that the bar shows. */
export function BudgetBar({ budget }: { budget: Budget }) {
  const { percent, state } = budgetState(budget);
  const name = budget.scope === "organization" ? "Whole organization" : budget.label;
  return (
    <li className="flex flex-col gap-3 rounded-2xl border border-border px-4 py-3.5">
      <div className="flex items-start justify-between gap-4">
        <div className="min-w-0">
          <p className="truncate font-medium text-sm">{name}</p>
          <p className="text-muted-foreground text-xs">
            {scopes[budget.scope]} · {budget.is_hard ? "hard limit" : "soft limit"}
          </p>
        </div>
        <p className="shrink-0 font-semibold text-sm tabular-nums">{percent} %</p>
      </div>
      <meter
        className="sr-only"
        aria-label={`Spent of ${name}`}
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
        <span className="text-foreground">{formatCost(budget.spent, budget.currency)}</span> of{" "}
        {formatCost(budget.amount, budget.currency)} spent. {notes[state](budget.is_hard)}
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

const notes: Record<BudgetState, (isHard: boolean) => string> = {
  ample: (isHard) => (isHard ? "Requests beyond it are refused." : "Beyond it you are notified."),
  short: (isHard) => (isHard ? "Little is left before requests are refused." : "Little is left."),
  spent: (isHard) => (isHard ? "Requests are refused." : "It is used up; requests go on."),
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
