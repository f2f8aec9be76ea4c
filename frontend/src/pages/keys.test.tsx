import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { beforeEach, describe, it, vi } from "vitest";
import { KeysPage } from "./keys";

const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
const KEY = {
  id: "k",
  name: "Deploy",
  prefix: "sk-parley-abc",
  created_at: "2026-11-01T00:00:00Z",
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
  scopes: [],
};

beforeEach(() => client.clear());

describe("KeysPage", () => {
  it("lists page after page, and keeps the keys in sight when reading them again fails, and says so", async () => {
    vi.stubGlobal("fetch", async (path: string) =>
      Response.json(
        path.includes("cursor=k")
          ? { data: [{ ...KEY, id: "l", name: "Older" }], next_cursor: null }
          : { data: [KEY], next_cursor: "k" },
      ),
    );
    render(
      <QueryClientProvider client={client}>
        <MemoryRouter>
          <KeysPage />
        </MemoryRouter>
      </QueryClientProvider>,
    );
    await screen.findByText("Deploy");
    act(() => screen.getByRole("button", { name: "Show more" }).click());
    await screen.findByText("Older");
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("offline")));
    await act(() => client.invalidateQueries());
    await screen.findByText(/can't be reached|connection|offline/i);
    screen.getByText("Deploy");
    screen.getByText("Older");
  });
});
