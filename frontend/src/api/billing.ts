/** Requests about an organization's money. Only owners, admins and finance members may ask. */
import { api } from "./client";
import type { Budget, Invoice, Role } from "./types";

/** Who sees all members' usage, budgets and invoices; as billing/permissions.py has it. */
export const managesMoney = (role: Role) => role !== "member";

export const listBudgets = () => api<{ data: Budget[] }>("/api/budgets").then((page) => page.data);

export const listInvoices = () =>
  api<{ data: Invoice[] }>("/api/invoices").then((page) => page.data);

/** Where a document is downloaded; the answer is an attachment. */
export const invoiceDocument = (id: number, kind: "pdf" | "csv") =>
  `/api/invoices/${id}/document.${kind}`;
