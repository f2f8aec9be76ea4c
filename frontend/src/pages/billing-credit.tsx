import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
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
    <Section title={t`Prepaid credit`}>
      <p className="text-sm">
        <CreditLeft billing={billing} />
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

function CreditLeft({ billing }: { billing: Billing }) {
  const left = formatCost(billing.credit, billing.currency);
  if (Number(billing.credit) < 0)
    return (
      <Trans>
        <strong className="font-semibold">{left}</strong> because a payment was taken back: requests
        are refused until credit makes it up.
      </Trans>
    );
  return billing.is_prepaid ? (
    <Trans>
      <strong className="font-semibold">{left}</strong> left. Requests are refused once it is used
      up.
    </Trans>
  ) : (
    <Trans>
      <strong className="font-semibold">{left}</strong> left. It is used first; the rest comes with
      the month's invoice.
    </Trans>
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
        label={t`Amount in ${currency}`}
        inputMode="decimal"
        required
        value={amount}
        error={wrong ? errorMessage(begin.error) : undefined}
        onChange={(event) => setAmount(event.target.value)}
      />
      <Button type="submit" className="self-start" busy={begin.isPending}>
        <Trans>Buy credit</Trans>
      </Button>
    </form>
  );
}

const STATES: Record<TopUp["state"], MessageDescriptor> = {
  pending: msg({ message: "Not paid yet", context: "a purchase of credit" }),
  paid: msg({ message: "Paid", context: "a purchase of credit" }),
  expired: msg({ message: "Expired", context: "a purchase of credit" }),
};

function Row({ topUp }: { topUp: TopUp }) {
  const takenBack = formatCents(topUp.taken_back, topUp.currency);
  return (
    <li className="flex items-center justify-between gap-4 border-border border-b px-4 py-3 text-sm last:border-b-0">
      <span className="text-muted-foreground">{formatUtcDay(topUp.created_at)}</span>
      <span className="text-muted-foreground text-xs">
        {Number(topUp.taken_back) > 0 ? t`${takenBack} taken back` : t(STATES[topUp.state])}
      </span>
      <span className="font-semibold tabular-nums">
        {formatCents(topUp.amount, topUp.currency)}
      </span>
    </li>
  );
}
