import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  addPaymentMethod,
  choosePlan,
  getBilling,
  managesMoney,
  removePaymentMethod,
} from "@/api/billing";
import { errorMessage } from "@/api/errors";
import type { Billing } from "@/api/types";
import { useMe } from "@/app/session";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { toast } from "@/ui/toast";
import { Credit } from "./billing-credit";
import { Details } from "./billing-details";
import { PageLayout, Section } from "./page-layout";
import { formatCents, formatUtcDay } from "./usage-format";
import { Invoices } from "./usage-invoices";

export const billingKey = ["billing"];

/** Plan, payment method, prepaid credit and invoices, for who manages the organization's money. */
export function BillingPage() {
  const manages = managesMoney(useMe().role);
  const billing = useQuery({ queryKey: billingKey, queryFn: getBilling, enabled: manages });
  return (
    <PageLayout title={t`Billing`} description={t`How your organization pays, and what it owes.`}>
      {!manages ? (
        <Notice tone="info">
          <Trans>Owners, admins and finance members see an organization's money.</Trans>
        </Notice>
      ) : billing.isPending ? (
        <Loading />
      ) : !billing.data ? (
        <Notice tone="error">{errorMessage(billing.error)}</Notice>
      ) : (
        <>
          <Notices billing={billing.data} />
          <Plans billing={billing.data} />
          <PaymentMethod billing={billing.data} />
          <Credit billing={billing.data} />
          <Details key={JSON.stringify(billing.data.details)} billing={billing.data} />
          <Invoices />
        </>
      )}
    </PageLayout>
  );
}

function Notices({ billing }: { billing: Billing }) {
  return (
    <>
      {!billing.is_configured && (
        <Notice tone="info" title={t`Payment is not configured on this installation`}>
          <Trans>Plans and credit are given by its operator.</Trans>
        </Notice>
      )}
      {billing.unpaid.map((invoice) => (
        <Unpaid key={invoice.number} invoice={invoice} />
      ))}
    </>
  );
}

function Unpaid({ invoice }: { invoice: Billing["unpaid"][number] }) {
  const { number } = invoice;
  const total = formatCents(invoice.total, invoice.currency);
  const day = invoice.due_at && formatUtcDay(invoice.due_at);
  return (
    <Notice tone="warning" title={t`Invoice ${number} is not paid`}>
      {day ? t`${total}, due ${day}` : total}
    </Notice>
  );
}

function Plans({ billing }: { billing: Billing }) {
  const client = useQueryClient();
  const choose = useMutation({
    mutationFn: choosePlan,
    onSuccess: (next) => {
      client.setQueryData(billingKey, next);
      const plan = next.plan_name;
      toast(t`Your plan is ${plan}.`);
    },
    onError: (error) => toast(errorMessage(error)),
  });
  const plan = billing.plan_name;
  return (
    <Section title={t`Plan`}>
      <p className="text-sm">
        <Trans>
          Your plan is <strong className="font-semibold">{plan}</strong>.
        </Trans>
      </p>
      {billing.plans.length > 0 && (
        <ul className="grid gap-3 md:grid-cols-3">
          {billing.plans.map((plan) => (
            <PlanCard
              key={plan.slug}
              name={plan.name}
              amount={formatCents(plan.amount, billing.currency)}
              isOwn={plan.slug === billing.plan}
              busy={choose.isPending && choose.variables === plan.slug}
              onChoose={() => choose.mutate(plan.slug)}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

interface PlanCardProps {
  name: string;
  amount: string;
  isOwn: boolean;
  busy: boolean;
  onChoose: () => void;
}

function PlanCard({ name, amount, isOwn, busy, onChoose }: PlanCardProps) {
  return (
    <li className="flex flex-col gap-3 rounded-2xl border border-border px-4 py-3.5">
      <p className="font-medium text-sm">{name}</p>
      <p className="font-semibold text-xl tabular-nums tracking-tight">
        <Trans>
          {amount}
          <span className="font-normal text-muted-foreground text-xs"> a month</span>
        </Trans>
      </p>
      <Button
        variant="outline"
        size="sm"
        aria-label={isOwn ? undefined : t`Choose ${name}`}
        disabled={isOwn}
        busy={busy}
        onClick={onChoose}
      >
        {isOwn ? t`Your plan` : t`Choose`}
      </Button>
    </li>
  );
}

function PaymentMethod({ billing }: { billing: Billing }) {
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: addPaymentMethod,
    onSuccess: ({ url }) => window.location.assign(url),
    onError: (error) => toast(errorMessage(error)),
  });
  const remove = useMutation({
    mutationFn: removePaymentMethod,
    onSuccess: () => client.invalidateQueries({ queryKey: billingKey }),
    onError: (error) => toast(errorMessage(error)),
  });
  return (
    <Section title={t`Payment method`}>
      <p className="text-sm">
        {billing.payment_method ?? t({ message: "There is none.", context: "payment method" })}
      </p>
      <div className="flex flex-wrap gap-2">
        <Button
          variant="outline"
          disabled={!billing.is_configured}
          busy={add.isPending}
          onClick={() => add.mutate()}
        >
          {billing.payment_method ? t`Replace payment method` : t`Add payment method`}
        </Button>
        {billing.payment_method && (
          <Button variant="ghost" busy={remove.isPending} onClick={() => remove.mutate()}>
            <Trans>Remove payment method</Trans>
          </Button>
        )}
      </div>
    </Section>
  );
}
