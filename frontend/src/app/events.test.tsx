import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { act, render, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { listKey } from "@/chat/cache";
import { socketUrl, useServerEvents } from "./events";

class Socket {
  static all: Socket[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  close = vi.fn();

  constructor() {
    Socket.all.push(this);
  }
}

/** What the server has; the page shows what it read last. */
const server = { titles: ["tomatoes"] };
const onDeleted = vi.fn();
let navigate: () => void;

function Titles() {
  const [page, setPage] = useState("the first page");
  navigate = () => setPage("the second page");
  useServerEvents((id) => onDeleted(id, page));
  const list = useQuery({
    queryKey: listKey({ archived: false }),
    queryFn: async () => ({ pages: [{ data: server.titles.map((title) => ({ id: title })) }] }),
  });
  return <p>{list.data?.pages[0]?.data.map(({ id }) => id).join(", ")}</p>;
}

beforeEach(async () => {
  Socket.all = [];
  server.titles = ["tomatoes"];
  vi.stubGlobal("WebSocket", Socket);
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Titles />
    </QueryClientProvider>,
  );
  // When the browser has nothing else to do.
  await waitFor(() => expect(Socket.all).toHaveLength(1));
});

afterEach(() => void vi.useRealTimers());

it("opens its socket over TLS where the page came over TLS", () => {
  expect(socketUrl("https://chat.example.com/c/1?a=b#c").href).toBe(
    "wss://chat.example.com/ws/events",
  );
  expect(socketUrl("http://localhost:8000/").href).toBe("ws://localhost:8000/ws/events");
});

describe("useServerEvents", () => {
  it("reads again what was made between the first reading and the opening", async () => {
    await screen.findByText("tomatoes");
    server.titles.push("bicycles");
    act(() => Socket.all[0]?.onopen?.());
    await screen.findByText("tomatoes, bicycles");
  });

  it("keeps its socket when the page that is shown changes", async () => {
    await screen.findByText("tomatoes");
    act(() => navigate());
    expect(Socket.all).toHaveLength(1);
    const deleted = { type: "conversation.deleted", conversation_id: "1" };
    act(() => Socket.all[0]?.onmessage?.({ data: JSON.stringify(deleted) }));
    expect(onDeleted).toHaveBeenLastCalledWith("1", "the second page");
  });

  it("tries again after a refused session, as long as the user is signed in", async () => {
    vi.useFakeTimers();
    act(() => Socket.all[0]?.onclose?.({ code: 4401 }));
    act(() => void vi.advanceTimersByTime(20_000));
    expect(Socket.all).toHaveLength(2);
  });

  it("connects anew when the page was out of sight for long", () => {
    vi.useFakeTimers();
    const visibility = vi.spyOn(document, "visibilityState", "get");
    const show = (state: "hidden" | "visible") => {
      visibility.mockReturnValue(state);
      act(() => void document.dispatchEvent(new Event("visibilitychange")));
    };
    show("hidden");
    vi.advanceTimersByTime(1_000);
    show("visible");
    expect(Socket.all).toHaveLength(1);
    show("hidden");
    vi.advanceTimersByTime(60_000);
    show("visible");
    expect(Socket.all).toHaveLength(2);
    expect(Socket.all[0]?.close).toHaveBeenCalled();
  });

  it("leaves alone what it does not know", async () => {
    await screen.findByText("tomatoes");
    server.titles.push("bicycles");
    const event = { type: "quota.changed", conversation_id: "1" };
    act(() => Socket.all[0]?.onmessage?.({ data: JSON.stringify(event) }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    screen.getByText("tomatoes");
  });

  it("reads again what an event names", async () => {
    await screen.findByText("tomatoes");
    server.titles.push("bicycles");
    const event = { type: "conversation.changed", conversation_id: "1" };
    act(() => Socket.all[0]?.onmessage?.({ data: JSON.stringify(event) }));
    await screen.findByText("tomatoes, bicycles");
  });
});
