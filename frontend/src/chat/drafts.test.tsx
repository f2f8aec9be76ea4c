import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Model, Part } from "@/api/types";
import { Composer } from "./composer";
import { claimDrafts, draftOf, forgetDrafts, keepDraft } from "./drafts";
import { ChatRuntime } from "./runtime";

const model = { id: "m", capabilities: ["chat"] } as Model;
const file: Part = { type: "file", attachment_id: "stored-1", filename: "tides.txt" };

beforeEach(() => {
  sessionStorage.clear();
  forgetDrafts();
  vi.stubGlobal("fetch", async () => Response.json({ data: [], pending: [] }));
});

function chat(conversationId: string, send: (parts: Part[]) => Promise<void> = async () => {}) {
  return (
    <QueryClientProvider key={conversationId} client={new QueryClient()}>
      <ChatRuntime
        draftOf={conversationId}
        running={false}
        model={model}
        send={send}
        stop={async () => {}}
        warn={() => {}}
      >
        <Composer web={null} />
      </ChatRuntime>
    </QueryClientProvider>
  );
}

describe("a draft", () => {
  it("waits in its own chat while the reader looks at another", async () => {
    const page = render(chat("a"));
    await userEvent.type(screen.getByLabelText("Message"), "High tide");
    page.rerender(chat("b"));
    expect(screen.getByLabelText("Message")).toHaveValue("");
    page.rerender(chat("a"));
    await waitFor(() => expect(screen.getByLabelText("Message")).toHaveValue("High tide"));
  });

  it("comes back with its files", async () => {
    keepDraft("a", [{ type: "text", text: "Read this" }, file]);
    const send = vi.fn(async () => {});
    render(chat("a", send));
    expect(await screen.findByText("tides.txt")).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Send" }));
    await waitFor(() =>
      expect(send).toHaveBeenCalledWith([{ type: "text", text: "Read this" }, file]),
    );
    expect(draftOf("a")).toEqual([]);
  });

  it("has words and files again when nothing could be sent", async () => {
    keepDraft("new", [{ type: "text", text: "Read this" }, file]);
    render(chat("new", () => Promise.reject(new Error("refused"))));
    await screen.findByText("tides.txt");
    await userEvent.click(screen.getByRole("button", { name: "Send" }));
    await waitFor(() => expect(screen.getByLabelText("Message")).toHaveValue("Read this"));
    expect(screen.getByText("tides.txt")).toBeInTheDocument();
    expect(draftOf("new")).toEqual([{ type: "text", text: "Read this" }, file]);
  });

  it("stays with its user", () => {
    expect(claimDrafts("ada")).toBe(true);
    keepDraft("a", [file]);
    expect(claimDrafts("ada")).toBe(true);
    expect(draftOf("a")).toEqual([file]);
    expect(claimDrafts("bob")).toBe(false);
    expect(draftOf("a")).toEqual([]);
    expect(sessionStorage.getItem("parley.drafts")).not.toContain("tides");
  });
});
