import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { deleteBudget, listBudgets, setBudget } from "@/api/billing";
import { errorMessage } from "@/api/errors";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Select } from "@/ui/select";
import { Section } from "./page-layout";
import { BudgetBar } from "./usage-budgets";
import { useChange } from "./use-change";

const key = ["budgets"] as const;

/** What the project may spend in a month: a hard budget refuses, a soft one notifies. */
export function ProjectBudget({ projectId }: { projectId: string }) {
  const budgets = useQuery({ queryKey: key, queryFn: listBudgets });
  const [kind, setKind] = useState<"hard" | "soft">("hard");
  const set = useChange(
    key,
    (amount: string) => setBudget({ amount, is_hard: kind === "hard", project_id: projectId }),
    t`The budget is set.`,
  );
  const remove = useChange(key, deleteBudget);
  const own = budgets.data?.filter((budget) => budget.project_id === projectId) ?? [];
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    set.mutate(String(new FormData(event.currentTarget).get("amount")));
  };
  return (
    <Section title={t`Budget of a month`}>
      {budgets.error && <Notice tone="error">{errorMessage(budgets.error)}</Notice>}
      <ul className="grid gap-3 md:grid-cols-2">
        {own.map((budget) => (
          <BudgetBar key={budget.id} budget={budget} />
        ))}
      </ul>
      <form onSubmit={submit} className="grid max-w-xl items-end gap-3 sm:grid-cols-3">
        <Field label={t`Amount`} name="amount" type="number" min={0} step="0.01" required />
        <Select
          label={t({ message: "Limit", context: "of a budget" })}
          className="h-11"
          value={kind}
          onChange={setKind}
          options={[
            { value: "hard", label: t`Hard: refuses` },
            { value: "soft", label: t`Soft: notifies` },
          ]}
        />
        <Button type="submit" variant="outline" className="h-11" busy={set.isPending}>
          <Trans>Set budget</Trans>
        </Button>
      </form>
      <div className="flex gap-2">
        {own.map((budget) => (
          <Button
            key={budget.id}
            variant="outline"
            size="sm"
            onClick={() => remove.mutate(budget.id)}
          >
            {budget.is_hard ? t`Remove the hard budget` : t`Remove the soft budget`}
          </Button>
        ))}
      </div>
    </Section>
  );
}
