import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { beginTopUp, listTopUps } from "@/api/billing";
import { ApiError, errorMessage } from "@/api/errors";
import type { Billing, TopUp } from "@/api/types";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Section } from "./page-layout";
import { formatCents, formatCost, formatUtcDay } from "./usage-format";

/** What is left of prepaid credit, and buying more. */
export function Credit({ billing }: { billing: Billing }) {
  const topUps = useQuery({ queryKey: ["top-ups"], queryFn: listTopUps });
  return (
    <Section title="Prepaid credit">
      <p className="text-sm">
        <strong className="font-semibold">{formatCost(billing.credit, billing.currency)}</strong>{" "}
        {Number(billing.credit) < 0
          ? "because a payment was taken back: requests are refused until credit makes it up."
          : billing.is_prepaid
            ? "left. Requests are refused once it is used up."
            : "left. It is used first; the rest comes with the month's invoice."}
      </p>
      {billing.is_configured && <TopUpForm currency={billing.currency} />}
      {topUps.isError && <Notice tone="error">{errorMessage(topUps.error)}</Notice>}
      {topUps.data && topUps.data.length > 0 && (
        <ul className="flex max-w-md flex-col overflow-hidden rounded-2xl border border-border">
          {topUps.data.map((topUp) => (
            <Row key={topUp.id} topUp={topUp} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function TopUpForm({ currency }: { currency: string }) {
  const [amount, setAmount] = useState("50");
  const begin = useMutation({
    mutationFn: beginTopUp,
    onSuccess: ({ url }) => window.location.assign(url),
  });
  const wrong = begin.error instanceof ApiError && begin.error.body.param === "amount";
  return (
    <form
      className="flex max-w-md flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        begin.mutate(amount);
      }}
    >
      {begin.error && !wrong && <Notice tone="error">{errorMessage(begin.error)}</Notice>}
      <Field
        label={`Amount in ${currency}`}
        inputMode="decimal"
        required
        value={amount}
        error={wrong ? errorMessage(begin.error) : undefined}
        onChange={(event) => setAmount(event.target.value)}
      />
      <Button type="submit" className="self-start" busy={begin.isPending}>
        Buy credit
      </Button>
    </form>
  );
}

const states = { pending: "Not paid yet", paid: "Paid", expired: "Expired" } as const;

function Row({ topUp }: { topUp: TopUp }) {
  return (
    <li className="flex items-center justify-between gap-4 border-border border-b px-4 py-3 text-sm last:border-b-0">
      <span className="text-muted-foreground">{formatUtcDay(topUp.created_at)}</span>
      <span className="text-muted-foreground text-xs">
        {Number(topUp.taken_back) > 0
          ? `${formatCents(topUp.taken_back, topUp.currency)} taken back`
          : states[topUp.state]}
      </span>
      <span className="font-semibold tabular-nums">
        {formatCents(topUp.amount, topUp.currency)}
      </span>
    </li>
  );
}
