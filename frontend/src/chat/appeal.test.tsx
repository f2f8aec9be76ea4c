import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Appeal } from "@/api/types";
import { AppealControl } from "./appeal";

const GENERATION = "0190a0d0-0000-4000-8000-000000000001";

/** A server that knows appeals; `stored` is what it has, `posted` what it was sent. */
const server = { stored: [] as Appeal[], posted: [] as unknown[], refuse: 0 };

function appeal(changes: Partial<Appeal> = {}): Appeal {
  return {
    id: "0190a0d0-0000-4000-8000-000000000002",
    generation_id: GENERATION,
    state: "open",
    note: "",
    created_at: "2026-11-21T10:00:00Z",
    resolved_at: null,
    ...changes,
  };
}

function answer(path: string, init?: RequestInit): Response {
  if (init?.method !== "POST") {
    expect(path).toBe(`/api/appeals?generation_id=${GENERATION}`);
    return Response.json({ data: server.stored });
  }
  server.posted.push(JSON.parse(String(init.body)));
  if (server.refuse) {
    return Response.json({ error: { message: "Not now." } }, { status: server.refuse });
  }
  server.stored = [appeal()];
  return Response.json(server.stored[0], { status: 201 });
}

function show() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={client}>
      <AppealControl generationId={GENERATION} />
    </QueryClientProvider>,
  );
}

async function send(reason: string) {
  await userEvent.click(await screen.findByRole("button", { name: "Ask for a review" }));
  if (reason) await userEvent.type(screen.getByRole("textbox", { name: "Reason" }), reason);
  await userEvent.click(screen.getByRole("button", { name: "Send appeal" }));
}

beforeEach(() => {
  Object.assign(server, { stored: [], posted: [], refuse: 0 });
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => answer(path, init));
});

describe("an appeal", () => {
  it("is sent with its reason, and then said to be sent", async () => {
    show();
    await send(" It is for a novel. ");
    expect(await screen.findByText(/Your appeal was sent/)).toBeInTheDocument();
    expect(server.posted).toEqual([{ generation_id: GENERATION, reason: "It is for a novel." }]);
    expect(screen.queryByRole("button", { name: "Ask for a review" })).toBeNull();
  });

  it("needs no reason", async () => {
    show();
    await send("");
    expect(await screen.findByText(/Your appeal was sent/)).toBeInTheDocument();
  });

  it.each([
    ["open", /Your appeal was sent/],
    ["confirmed", /the decision stands.*“Not here.”/],
    ["overturned", /should have been allowed.*“Not here.”/],
  ] as const)("that is %s is told, and cannot be sent again", async (state, words) => {
    server.stored = [appeal({ state, note: "Not here." })];
    show();
    expect(await screen.findByText(words)).toBeInTheDocument();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("that another tab has sent takes the form's place", async () => {
    show();
    await screen.findByRole("button", { name: "Ask for a review" });
    server.stored = [appeal()];
    server.refuse = 409;
    await send("Again");
    expect(await screen.findByText(/Your appeal was sent/)).toBeInTheDocument();
  });

  it("that fails keeps what was written", async () => {
    server.refuse = 503;
    show();
    await send("Please look");
    expect(await screen.findByRole("alert")).toHaveTextContent("Not now.");
    expect(screen.getByRole("textbox", { name: "Reason" })).toHaveValue("Please look");
  });
});
