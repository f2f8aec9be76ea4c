import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { beforeEach, expect, it, type Mock, vi } from "vitest";
import { isDeleted } from "@/chat/cache";
import * as toasts from "@/ui/toast";
import { useChatChanges } from "./use-chat-changes";

const client = new QueryClient();
const fetchMock = vi.fn<typeof fetch>();
let said: Mock<typeof toasts.toast>;

function changes() {
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  return renderHook(useChatChanges, { wrapper }).result.current;
}

beforeEach(() => {
  said = vi.spyOn(toasts, "toast");
  fetchMock.mockReset();
  fetchMock.mockImplementation(async () => Response.json({ changed: 2 }));
  vi.stubGlobal("fetch", fetchMock);
});

it("undoes a deletion of several for all of them", async () => {
  const { change } = changes();
  await act(async () => void (await change(["a", "b"], "delete")));
  expect([isDeleted(client, "a"), isDeleted(client, "b")]).toEqual([true, true]);
  const [text, action] = said.mock.calls[0] ?? [];
  expect(text).toBe("In the trash: 2 chats.");
  await act(async () => action?.onClick());
  await vi.waitFor(() => expect(said.mock.calls[1]?.[0]).toBe("Restored: 2 chats."));
  const bodies = fetchMock.mock.calls.map(([, init]) => JSON.parse(String(init?.body)));
  expect(bodies).toEqual([
    { ids: ["a", "b"], action: "delete" },
    { ids: ["a", "b"], action: "restore" },
  ]);
  expect([isDeleted(client, "a"), isDeleted(client, "b")]).toEqual([false, false]);
});

it("leaves chats readable whose deletion is refused", async () => {
  fetchMock.mockImplementation(() => Promise.reject(new TypeError("offline")));
  const { change } = changes();
  let done = true;
  await act(async () => {
    done = await change(["c"], "delete");
  });
  expect(done).toBe(false);
  expect(isDeleted(client, "c")).toBe(false);
  expect(said.mock.calls[0]?.[1]).toBeUndefined();
});
