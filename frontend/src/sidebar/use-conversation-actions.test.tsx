import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter } from "react-router";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ConversationSummary } from "@/api/types";
import { type ConversationData, conversationKey, type ListData, listKey } from "@/chat/cache";
import { useConversationActions } from "./use-conversation-actions";

const ROW = { id: "c", title: "Before", pinned: false, archived: false } as ConversationSummary;
const lists = listKey({ archived: false });
const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
const listed = () => client.getQueryData<ListData>(lists)?.pages.flatMap(({ data }) => data);
const opened = () => client.getQueryData<ConversationData>(conversationKey("c"))?.pages[0];

function actions() {
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>
      <MemoryRouter>{children}</MemoryRouter>
    </QueryClientProvider>
  );
  return renderHook(useConversationActions, { wrapper }).result.current;
}

beforeEach(() => {
  client.clear();
  client.setQueryData(lists, { pages: [{ data: [ROW], next_cursor: null }], pageParams: [null] });
  client.setQueryData(conversationKey("c"), { pages: [{ ...ROW }], pageParams: [null] });
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("offline")));
});

describe("a change that the server does not get", () => {
  it.each([
    ["rename", (act: ReturnType<typeof actions>) => act.rename(ROW, "After")],
    ["pin", (act: ReturnType<typeof actions>) => act.pin(ROW, true)],
    ["archive", (act: ReturnType<typeof actions>) => act.archive(ROW, true)],
    ["remove", (act: ReturnType<typeof actions>) => act.remove(ROW)],
  ])("is taken back in the list and in the chat: %s", async (_, change) => {
    const does = actions();
    await act(async () => void (await change(does)));
    expect(listed()).toEqual([ROW]);
    expect(opened()).toEqual(ROW);
  });
});
