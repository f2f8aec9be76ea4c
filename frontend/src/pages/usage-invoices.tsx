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
    <Section title="Invoices">
      {invoices.isPending ? (
        <Loading />
      ) : !invoices.data ? (
        <Notice tone="error">{errorMessage(invoices.error)}</Notice>
      ) : shown.length === 0 ? (
        <EmptyState icon={<ReceiptText aria-hidden />}>
          There are no invoices yet. A month's is issued in the first days of the next.
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
              Show more
            </Button>
          )}
        </>
      )}
    </Section>
  );
}

function InvoiceRow({ invoice }: { invoice: Invoice }) {
  const isNote = invoice.kind === "credit_note";
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 border-border border-b px-4 py-3.5 last:border-b-0">
      <div className="flex min-w-0 flex-col gap-1">
        <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1 font-medium text-sm">
          {isNote ? `Credit note for ${invoice.corrects}` : formatMonth(invoice.period)}
          <Status invoice={invoice} />
        </span>
        <span className="flex flex-wrap gap-x-4 gap-y-1 text-muted-foreground text-xs">
          <span className="font-mono">{invoice.number}</span>
          <span>Issued {formatUtcDay(invoice.issued_at)}</span>
          {invoice.status === "open" && invoice.due_at && (
            <span>Due {formatUtcDay(invoice.due_at)}</span>
          )}
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
  open: { label: "Open", className: "bg-warning/15" },
  paid: { label: "Paid", className: "bg-muted" },
  void: { label: "Void", className: "bg-muted line-through" },
} as const;

function Status({ invoice }: { invoice: Invoice }) {
  if (invoice.kind === "credit_note") return null;
  const { label, className } = statuses[invoice.status];
  return (
    <span className={cn("rounded-full px-2 py-0.5 font-normal text-xs", className)}>{label}</span>
  );
}

function DocumentLink({ invoice, kind }: { invoice: Invoice; kind: "pdf" | "csv" }) {
  const name = kind.toUpperCase();
  return (
    <a
      href={invoiceDocument(invoice.id, kind)}
      download
      aria-label={`Download ${invoice.number} as ${name}`}
      className={buttonClass("outline", "sm")}
    >
      <Download aria-hidden className="size-3.5" />
      {name}
    </a>
  );
}
