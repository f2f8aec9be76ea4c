import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { beforeEach, expect, it, vi } from "vitest";
import type { Billing, Invoice, Me, TopUp } from "@/api/types";
import { MeContext } from "@/app/session";
import { BillingPage } from "./billing";

const billing: Billing = {
  is_configured: true,
  currency: "EUR",
  plan: "free",
  plan_name: "Free",
  plans: [
    { slug: "free", name: "Free", amount: "0.00" },
    { slug: "standard", name: "Standard", amount: "30.00" },
  ],
  payment_method: "Visa ···· 4242",
  is_prepaid: false,
  credit: "-20.00",
  unpaid: [],
  details: { legal_name: "", address: "", tax_id: "", country: "", email: "", language: "" },
};

const topUp: TopUp = {
  id: "00000000-0000-0000-0000-000000000001",
  amount: "25.00",
  currency: "EUR",
  state: "paid",
  taken_back: "25.00",
  created_at: "2026-11-01T00:00:00Z",
  paid_at: "2026-11-01T00:00:00Z",
};

const invoice = (id: number): Invoice => ({
  id,
  number: `INV-${id}`,
  kind: "invoice",
  status: "paid",
  period: "2026-10",
  currency: "EUR",
  subtotal: "10.00",
  credit_applied: "0.00",
  tax_rate: "0",
  tax: "0.00",
  total: "10.00",
  corrects: null,
  reason: "",
  issued_at: "2026-11-01T03:15:00Z",
  due_at: null,
  paid_at: null,
});

let asked: [string, string][];

/** The API, answered at the border of the page: `fetch`. */
beforeEach(() => {
  asked = [];
  const answers: Record<string, unknown> = {
    "/api/billing": billing,
    "/api/billing/plan": { ...billing, plan: "standard", plan_name: "Standard" },
    "/api/billing/top-ups": { data: [topUp], has_more: false },
    "/api/invoices": { data: [invoice(7)], next_cursor: "7" },
    "/api/invoices?after=7": { data: [invoice(6)], next_cursor: null },
  };
  vi.stubGlobal("fetch", async (path: string, options?: RequestInit) => {
    asked.push([options?.method ?? "GET", path]);
    if (options?.method === "DELETE") return new Response(null, { status: 204 });
    return new Response(JSON.stringify(answers[path]));
  });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MeContext value={{ role: "finance" } as Me}>
        <BillingPage />
      </MeContext>
    </QueryClientProvider>,
    { wrapper: MemoryRouter },
  );
});

it("says what was taken back, and that requests are refused", async () => {
  expect(await screen.findByText(/because a payment was taken back/)).toHaveTextContent("-€20.00");
  expect(await screen.findByText("€25.00 taken back")).toBeInTheDocument();
});

it("shows the payment method, replaced or removed here, and changes the plan", async () => {
  expect(await screen.findByText("Visa ···· 4242")).toBeInTheDocument();
  expect(screen.getByRole("button", { name: "Replace payment method" })).toBeEnabled();
  await userEvent.click(screen.getByRole("button", { name: "Remove payment method" }));
  expect(asked).toContainEqual(["DELETE", "/api/billing/payment-method"]);
  await userEvent.click(screen.getByRole("button", { name: "Choose Standard" }));
  expect(await screen.findByText("Standard", { selector: "strong" })).toBeInTheDocument();
  expect(asked).toContainEqual(["PUT", "/api/billing/plan"]);
});

it("lists invoices a page at a time", async () => {
  await userEvent.click(await screen.findByRole("button", { name: "Show more" }));
  expect(await screen.findByText("INV-6")).toBeInTheDocument();
  const rows = screen.getAllByRole("link", { name: /Download INV-. as PDF/ });
  expect(rows).toHaveLength(2);
  expect(within(document.body).queryByRole("button", { name: "Show more" })).toBeNull();
});
