import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ConfirmAddressPage } from "./confirm-address";
import { StopAddressChangePage } from "./stop-address-change";

const sent: [string, unknown][] = [];

function open(page: React.ReactNode, ...answers: Response[]) {
  window.location.hash = "#the-token";
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    sent.push([path, JSON.parse(String(init?.body))]);
    return answers.shift();
  });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MemoryRouter>{page}</MemoryRouter>
    </QueryClientProvider>,
  );
}

const click = (name: string) => act(async () => screen.getByRole("button", { name }).click());

beforeEach(() => {
  sent.length = 0;
});

describe("ConfirmAddressPage", () => {
  it("sends nothing before a click, and asks for the password where the API does", async () => {
    const error = { message: "Enter the password.", code: "address_password_required" };
    open(
      <ConfirmAddressPage />,
      Response.json({ error }, { status: 403 }),
      new Response(null, { status: 204 }),
    );
    expect(sent).toEqual([]);
    await click("Use this address");
    expect(sent).toEqual([["/api/auth/address/confirm", { token: "the-token" }]]);
    await screen.findByText(/enter the password of the account/);
    fireEvent.change(screen.getByLabelText("Password"), { target: { value: "mine" } });
    await click("Use this address");
    await screen.findByText(/Your address is confirmed/);
    expect(sent[1]).toEqual([
      "/api/auth/address/confirm",
      { token: "the-token", password: "mine" },
    ]);
  });
});

describe("StopAddressChangePage", () => {
  it("sends nothing before a click", async () => {
    open(<StopAddressChangePage />, new Response(null, { status: 204 }));
    expect(sent).toEqual([]);
    await click("Stop the change");
    await screen.findByText(/Your address stays/);
    expect(sent).toEqual([["/api/auth/address/stop", { token: "the-token" }]]);
  });
});
