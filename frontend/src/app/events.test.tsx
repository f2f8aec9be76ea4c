import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { act, render, screen } from "@testing-library/react";
import { beforeEach, describe, it, vi } from "vitest";
import { listKey } from "@/chat/cache";
import { useServerEvents } from "./events";

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
const ignore = () => undefined;

function Titles() {
  useServerEvents(ignore);
  const list = useQuery({
    queryKey: listKey({ archived: false }),
    queryFn: async () => server.titles.join(", "),
  });
  return <p>{list.data}</p>;
}

beforeEach(() => {
  Socket.all = [];
  server.titles = ["tomatoes"];
  vi.stubGlobal("WebSocket", Socket);
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Titles />
    </QueryClientProvider>,
  );
});

describe("useServerEvents", () => {
  it("reads again what was made between the first reading and the opening", async () => {
    await screen.findByText("tomatoes");
    server.titles.push("bicycles");
    act(() => Socket.all[0]?.onopen?.());
    await screen.findByText("tomatoes, bicycles");
  });

  it("reads again what an event names", async () => {
    await screen.findByText("tomatoes");
    server.titles.push("bicycles");
    const event = { type: "conversation.changed", conversation_id: "1" };
    act(() => Socket.all[0]?.onmessage?.({ data: JSON.stringify(event) }));
    await screen.findByText("tomatoes, bicycles");
  });
});
