import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import type { ConversationSummary } from "@/api/types";
import TagsDialog from "./tags-dialog";

it("parts tags at the commas of any keyboard", async () => {
  const fetchMock = vi.fn<typeof fetch>(async () => Response.json({ data: [] }));
  vi.stubGlobal("fetch", fetchMock);
  const row = { id: "c", title: "Tides", tags: ["sea"] } as unknown as ConversationSummary;
  const close = vi.fn();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TagsDialog row={row} close={close} />
    </QueryClientProvider>,
  );
  await userEvent.type(screen.getByRole("textbox", { name: "Tags" }), ", moon、潮，月، قمر");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await vi.waitFor(() => expect(close).toHaveBeenCalled());
  const sent = fetchMock.mock.calls.find(([, init]) => init?.method === "PATCH")?.[1]?.body;
  expect(JSON.parse(String(sent))).toEqual({ tags: ["sea", "moon", "潮", "月", "قمر"] });
});
