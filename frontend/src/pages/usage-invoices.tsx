import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Download, ReceiptText } from "lucide-react";
import { invoiceDocument, listInvoices } from "@/api/billing";
import { errorMessage } from "@/api/errors";
import type { Invoice } from "@/api/types";
import { cn } from "@/lib/cn";
import { Button, buttonClass } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { EmptyState, Section } from "./page-layout";
import { formatCents, formatUtcDay } from "./usage-format";
import { formatMonth } from "./usage-periods";

/** Issued invoices and credit notes, newest first, to be downloaded. */
export function Invoices() {
  const invoices = useInfiniteQuery({
    queryKey: ["invoices"],
    queryFn: ({ pageParam }) => listInvoices(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const shown = invoices.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Section title={t`Invoices`}>
      {invoices.isPending ? (
        <Loading />
      ) : !invoices.data ? (
        <Notice tone="error">{errorMessage(invoices.error)}</Notice>
      ) : shown.length === 0 ? (
        <EmptyState icon={<ReceiptText aria-hidden />}>
          <Trans>
            There are no invoices yet. A month's is issued in the first days of the next.
          </Trans>
        </EmptyState>
      ) : (
        <>
          <ul className="flex flex-col overflow-hidden rounded-2xl border border-border">
            {shown.map((invoice) => (
              <InvoiceRow key={invoice.id} invoice={invoice} />
            ))}
          </ul>
          {invoices.hasNextPage && (
            <Button
              variant="outline"
              size="sm"
              className="self-start"
              busy={invoices.isFetchingNextPage}
              onClick={() => void invoices.fetchNextPage()}
            >
              <Trans>Show more</Trans>
            </Button>
          )}
        </>
      )}
    </Section>
  );
}

function InvoiceRow({ invoice }: { invoice: Invoice }) {
  const corrects = invoice.corrects ?? "";
  const isNote = invoice.kind === "credit_note";
  const issued = formatUtcDay(invoice.issued_at);
  const due = invoice.status === "open" && invoice.due_at && formatUtcDay(invoice.due_at);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 border-border border-b px-4 py-3.5 last:border-b-0">
      <div className="flex min-w-0 flex-col gap-1">
        <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1 font-medium text-sm">
          {isNote ? t`Credit note for ${corrects}` : formatMonth(invoice.period)}
          <Status invoice={invoice} />
        </span>
        <span className="flex flex-wrap gap-x-4 gap-y-1 text-muted-foreground text-xs">
          <span dir="ltr" className="font-mono">
            {invoice.number}
          </span>
          <span>{t`Issued ${issued}`}</span>
          {due && <span>{t`Due ${due}`}</span>}
        </span>
      </div>
      <div className="flex flex-1 items-center justify-between gap-4 sm:flex-none">
        <span className="font-semibold text-sm tabular-nums">
          {formatCents(invoice.total, invoice.currency)}
        </span>
        <span className="flex gap-2">
          <DocumentLink invoice={invoice} kind="pdf" />
          <DocumentLink invoice={invoice} kind="csv" />
        </span>
      </div>
    </li>
  );
}

const statuses = {
  open: { label: msg({ message: "Open", context: "invoice" }), className: "bg-warning/15" },
  paid: { label: msg({ message: "Paid", context: "invoice" }), className: "bg-muted" },
  void: { label: msg({ message: "Void", context: "invoice" }), className: "bg-muted line-through" },
} as const;

function Status({ invoice }: { invoice: Invoice }) {
  if (invoice.kind === "credit_note") return null;
  const { label, className } = statuses[invoice.status];
  return (
    <span className={cn("rounded-full px-2 py-0.5 font-normal text-xs", className)}>
      {i18n._(label)}
    </span>
  );
}

function DocumentLink({ invoice, kind }: { invoice: Invoice; kind: "pdf" | "csv" }) {
  const { number } = invoice;
  const name = kind.toUpperCase();
  return (
    <a
      href={invoiceDocument(invoice.id, kind)}
      download
      aria-label={t`Download ${number} as ${name}`}
      className={buttonClass("outline", "sm")}
    >
      <Download aria-hidden className="size-3.5" />
      {name}
    </a>
  );
}
