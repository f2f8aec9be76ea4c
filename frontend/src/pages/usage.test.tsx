import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Budget, Invoice, Me, Role, UsageSummary } from "@/api/types";
import { MeContext } from "@/app/session";
import { UsagePage } from "./usage";
import { budgetState } from "./usage-budgets";
import { formatCents, formatCost } from "./usage-format";

const row = {
  input_tokens: 1200,
  cached_input_tokens: 200,
  output_tokens: 340,
  reasoning_tokens: 90,
  image_tokens: 70,
  cached_output_tokens: 40,
};
const price = { cost: "1.25", cost_usd: null };

const usage: UsageSummary = {
  ...row,
  ...price,
  period: "2026-11",
  currency: "EUR",
  data: [{ ...row, ...price, key: "2026-11-21", label: "2026-11-21" }],
};

const budget: Budget = {
  id: 1,
  scope: "organization",
  label: "Organization",
  project_id: null,
  key_id: null,
  amount: "20.00",
  currency: "EUR",
  is_hard: true,
  spent: "17.5",
};

const invoice: Invoice = {
  id: 7,
  number: "INV-0003",
  kind: "invoice",
  status: "open",
  period: "2026-10",
  currency: "EUR",
  subtotal: "10.00",
  credit_applied: "0.00",
  tax_rate: "0.19",
  tax: "1.90",
  total: "11.90",
  corrects: null,
  reason: "",
  issued_at: "2026-11-01T03:15:00Z",
  due_at: "2026-11-15T03:15:00Z",
  paid_at: null,
};

const note: Invoice = {
  ...invoice,
  id: 8,
  number: "INV-0004",
  kind: "credit_note",
  status: "paid",
  corrects: "INV-0003",
  total: "-1.19",
};

let asked: string[];

/** The API, answered at the border of the page: `fetch`. */
beforeEach(() => {
  asked = [];
  const answers: Record<string, unknown> = {
    "/api/usage": usage,
    "/api/budgets": { data: [budget, { ...budget, id: 2, is_hard: false, spent: "25" }] },
    "/api/invoices": { data: [note, invoice], next_cursor: null },
  };
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    return new Response(JSON.stringify(answers[path.split("?")[0] ?? ""]));
  });
});

function show(role: Role) {
  const me = { role } as Me;
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MeContext value={me}>
        <UsagePage />
      </MeContext>
    </QueryClientProvider>,
    { wrapper: MemoryRouter },
  );
}

describe("the usage page of who manages money", () => {
  it("shows usage in the currency that is paid", async () => {
    show("finance");
    const cost = await screen.findByText("Cost", { selector: "dt" });
    expect(cost.nextSibling).toHaveTextContent("€1.25");
    const thought = screen.getByText("of these, reasoning", { selector: "dt" });
    expect(thought.nextSibling).toHaveTextContent("90");
    const images = screen.getByText("of these, images", { selector: "dt" });
    expect(images.nextSibling).toHaveTextContent("70");
    const day = await screen.findByRole("row", { name: /Nov 21|21 Nov/ });
    expect(day).toHaveTextContent(/70.*340.*90/);
  });

  it("says what is spent of each budget, and what happens beyond it", async () => {
    show("finance");
    const [hard, soft] = await screen.findAllByRole("meter");
    expect(hard).toHaveAttribute("value", "87");
    expect(hard?.parentElement).toHaveTextContent("€17.50 of €20.00 spent");
    expect(hard?.parentElement).toHaveTextContent("Little is left before requests are refused.");
    expect(soft).toHaveAttribute("value", "100");
    expect(soft?.parentElement).toHaveTextContent("125 %");
    expect(soft?.parentElement).toHaveTextContent("It is used up; requests go on.");
  });

  it("lists documents, each to be downloaded twice", async () => {
    show("owner");
    const link = await screen.findByRole("link", { name: "Download INV-0003 as PDF" });
    expect(link).toHaveAttribute("href", "/api/invoices/7/document.pdf");
    const item = link.closest("li") as HTMLElement;
    expect(item).toHaveTextContent("October 2026");
    expect(within(item).getByText("Open")).toBeVisible();
    expect(item).toHaveTextContent("€11.90");
    expect(screen.getByRole("link", { name: "Download INV-0004 as CSV" })).toHaveAttribute(
      "href",
      "/api/invoices/8/document.csv",
    );
    expect(screen.getByText("Credit note for INV-0003")).toBeVisible();
  });

  it("groups by member", async () => {
    show("admin");
    await userEvent.click(await screen.findByRole("radio", { name: "Member" }));
    expect(asked.some((path) => path.includes("group_by=user"))).toBe(true);
  });
});

describe("the usage page of a plain member", () => {
  it("is about the member's own usage, and asks for no money matters", async () => {
    show("member");
    expect(await screen.findByText(/Every generation of yours/)).toBeVisible();
    await screen.findByText("Cost", { selector: "dt" });
    expect(screen.queryByRole("radio", { name: "Member" })).toBeNull();
    expect(screen.queryByText("Invoices")).toBeNull();
    expect(asked.every((path) => /^\/api\/(usage|projects)/.test(path))).toBe(true);
  });
});

describe("budgetState", () => {
  it.each([
    ["0", 0, "ample"],
    ["7.9999", 79, "ample"],
    ["8", 80, "short"],
    ["9.9999", 99, "short"],
    ["10", 100, "spent"],
    ["12.5", 125, "spent"],
  ])("%s of 10 is %i %% and %s", (spent, percent, state) => {
    expect(budgetState({ spent, amount: "10" })).toEqual({ percent, state });
  });

  it("calls a budget of nothing spent", () => {
    expect(budgetState({ spent: "0", amount: "0" }).state).toBe("spent");
  });
});

describe("amounts", () => {
  it("shows small costs with the digits they need, documents in cents", () => {
    expect(formatCost("0.000123", "USD")).toBe("$0.000123");
    expect(formatCost("12.345", "EUR")).toBe("€12.35");
    expect(formatCents("1190.1", "EUR")).toBe("€1,190.10");
  });
});
