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
    <PageLayout title="Billing" description="How your organization pays, and what it owes.">
      {!manages ? (
        <Notice tone="info">Owners, admins and finance members see an organization's money.</Notice>
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
        <Notice tone="info" title="Payment is not configured on this installation">
          Plans and credit are given by its operator.
        </Notice>
      )}
      {billing.unpaid.map((invoice) => (
        <Notice key={invoice.number} tone="warning" title={`Invoice ${invoice.number} is not paid`}>
          {formatCents(invoice.total, invoice.currency)}
          {invoice.due_at && `, due ${formatUtcDay(invoice.due_at)}`}
        </Notice>
      ))}
    </>
  );
}

function Plans({ billing }: { billing: Billing }) {
  const client = useQueryClient();
  const choose = useMutation({
    mutationFn: choosePlan,
    onSuccess: (next) => {
      client.setQueryData(billingKey, next);
      toast(`Your plan is ${next.plan_name}.`);
    },
    onError: (error) => toast(errorMessage(error)),
  });
  return (
    <Section title="Plan">
      <p className="text-sm">
        Your plan is <strong className="font-semibold">{billing.plan_name}</strong>.
      </p>
      {billing.plans.length > 0 && (
        <ul className="grid gap-3 md:grid-cols-3">
          {billing.plans.map((plan) => (
            <li
              key={plan.slug}
              className="flex flex-col gap-3 rounded-2xl border border-border px-4 py-3.5"
            >
              <p className="font-medium text-sm">{plan.name}</p>
              <p className="font-semibold text-xl tabular-nums tracking-tight">
                {formatCents(plan.amount, billing.currency)}
                <span className="font-normal text-muted-foreground text-xs"> a month</span>
              </p>
              <Button
                variant="outline"
                size="sm"
                aria-label={plan.slug === billing.plan ? undefined : `Choose ${plan.name}`}
                disabled={plan.slug === billing.plan}
                busy={choose.isPending && choose.variables === plan.slug}
                onClick={() => choose.mutate(plan.slug)}
              >
                {plan.slug === billing.plan ? "Your plan" : "Choose"}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Section>
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
    <Section title="Payment method">
      <p className="text-sm">{billing.payment_method ?? "There is none."}</p>
      <div className="flex flex-wrap gap-2">
        <Button
          variant="outline"
          disabled={!billing.is_configured}
          busy={add.isPending}
          onClick={() => add.mutate()}
        >
          {billing.payment_method ? "Replace payment method" : "Add payment method"}
        </Button>
        {billing.payment_method && (
          <Button variant="ghost" busy={remove.isPending} onClick={() => remove.mutate()}>
            Remove payment method
          </Button>
        )}
      </div>
    </Section>
  );
}
