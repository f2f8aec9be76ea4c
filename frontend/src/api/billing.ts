/** Requests about an organization's money. Only owners, admins and finance members may ask. */
import { api } from "./client";
import type { Budget, Invoice, Role } from "./types";

/** Who sees all members' usage, budgets and invoices; as billing/permissions.py has it. */
export const managesMoney = (role: Role) => role !== "member" && role !== "viewer";

/** Whose page shows the usage of all members. */
export const seesAllUsage = (role: Role) => managesMoney(role) || role === "viewer";

export const listBudgets = () => api<{ data: Budget[] }>("/api/budgets").then((page) => page.data);

export const setBudget = (body: { amount: string; is_hard: boolean; project_id?: string }) =>
  api<Budget>("/api/budgets", { method: "POST", body });

export const deleteBudget = (id: number) => api<void>(`/api/budgets/${id}`, { method: "DELETE" });

export const listInvoices = () =>
  api<{ data: Invoice[] }>("/api/invoices").then((page) => page.data);

/** Where a document is downloaded; the answer is an attachment. */
export const invoiceDocument = (id: number, kind: "pdf" | "csv") =>
  `/api/invoices/${id}/document.${kind}`;
