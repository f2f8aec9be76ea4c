import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ConversationList } from "./conversation-list";

/** Everything is in sight at once, as in a short list. */
class Observer {
  constructor(private readonly seen: (entries: { isIntersecting: boolean }[]) => void) {}
  observe() {
    this.seen([{ isIntersecting: true }]);
  }
  disconnect() {}
}

const row = (id: string) => ({
  id,
  title: `Chat ${id}`,
  pinned: false,
  archived: false,
  generating: false,
  model: "m",
  updated_at: new Date().toISOString(),
});
const fetchMock = vi.fn<typeof fetch>();
const failing = { now: true };

beforeEach(() => {
  failing.now = true;
  vi.stubGlobal("IntersectionObserver", Observer);
  vi.stubGlobal("fetch", fetchMock);
  fetchMock.mockReset();
  fetchMock.mockImplementation(async (path) => {
    if (!String(path).includes("cursor=")) {
      return Response.json({ data: [row("1")], next_cursor: "second" });
    }
    if (failing.now) return Response.json({ error: { message: "broken" } }, { status: 500 });
    return Response.json({ data: [row("2")], next_cursor: null });
  });
  render(
    <QueryClientProvider
      client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}
    >
      <MemoryRouter>
        <ConversationList />
      </MemoryRouter>
    </QueryClientProvider>,
  );
});

describe("a further page of the list that fails", () => {
  it("is not asked for again by itself, only by the reader", async () => {
    await screen.findByText("Chat 1");
    await vi.waitFor(() => expect(fetchMock).toHaveBeenCalledTimes(2));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(fetchMock).toHaveBeenCalledTimes(2);

    failing.now = false;
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByText("Chat 2");
  });
});
