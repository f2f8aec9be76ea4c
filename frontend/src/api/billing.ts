/** Requests about an organization's money. Only owners, admins and finance members may ask. */
import { api } from "./client";
import type { Page } from "./teams";
import type { Billing, BillingDetails, Budget, Invoice, Role, TopUp } from "./types";

/** Who sees all members' usage, budgets and invoices; as billing/permissions.py has it. */
export const managesMoney = (role: Role) => role !== "member" && role !== "viewer";

/** Whose page shows the usage of all members. */
export const seesAllUsage = (role: Role) => managesMoney(role) || role === "viewer";

/** All of them: a page of a hundred is seldom filled. */
export async function listBudgets(): Promise<Budget[]> {
  const budgets: Budget[] = [];
  let after: string | null = null;
  do {
    const path: string = `/api/budgets${after ? `?after=${after}` : ""}`;
    const page: Page<Budget> = await api<Page<Budget>>(path);
    budgets.push(...page.data);
    after = page.next_cursor;
  } while (after);
  return budgets;
}

export const setBudget = (body: { amount: string; is_hard: boolean; project_id?: string }) =>
  api<Budget>("/api/budgets", { method: "POST", body });

export const deleteBudget = (id: number) => api<void>(`/api/budgets/${id}`, { method: "DELETE" });

export const listInvoices = (cursor: string | null) =>
  api<Page<Invoice>>(`/api/invoices${cursor ? `?after=${cursor}` : ""}`);

/** Where a document is downloaded; the answer is an attachment. */
export const invoiceDocument = (id: number, kind: "pdf" | "csv") =>
  `/api/invoices/${id}/document.${kind}`;

export const getBilling = () => api<Billing>("/api/billing");

export const choosePlan = (plan: string) =>
  api<Billing>("/api/billing/plan", { method: "PUT", body: { plan } });

export const setBillingDetails = (details: BillingDetails) =>
  api<Billing>("/api/billing/details", { method: "PATCH", body: details });

/** Where a payment method is given: at the provider, which leads back. */
export const addPaymentMethod = () =>
  api<{ url: string }>("/api/billing/payment-method", { method: "POST" });

export const removePaymentMethod = () =>
  api<void>("/api/billing/payment-method", { method: "DELETE" });

/** Where the credit is paid: at the provider, which leads back. */
export const beginTopUp = (amount: string) =>
  api<{ url: string }>("/api/billing/top-ups", { method: "POST", body: { amount } });

export const listTopUps = () =>
  api<{ data: TopUp[] }>("/api/billing/top-ups").then((page) => page.data);
