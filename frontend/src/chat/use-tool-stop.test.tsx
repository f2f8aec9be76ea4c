import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook } from "@testing-library/react";
import { act, type ReactNode } from "react";
import { afterEach, expect, it, vi } from "vitest";
import type { ToolCall } from "@/api/types";
import { toolCallsKey } from "./cache";
import { claimBegins, claimEnds } from "./program-runs";
import { useToolStop } from "./use-tool-stop";

const call = (id: string, more: Partial<ToolCall>) =>
  ({ id, is_current: true, goes_on: true, status: "running", ...more }) as ToolCall;

afterEach(() => vi.unstubAllGlobals());

it("ends this page's program before the server has answered, and no other", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (path: string) => {
    asked.push(path);
    return new Promise<Response>(() => {}); // the server is slow
  });
  const client = new QueryClient();
  const data = [call("now", {}), call("before", { is_current: false, goes_on: false })];
  client.setQueryData(toolCallsKey("chat"), { data });
  const ends: string[] = [];
  for (const id of ["now", "before", "gone"]) claimBegins(id, () => ends.push(id));
  claimEnds("gone");
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useToolStop("chat"), { wrapper });
  expect(result.current.calling).toBe(true);
  act(() => void result.current.stopTools());
  expect(ends).toEqual(["now"]);
  expect(asked).toEqual(["/api/conversations/chat/tool-calls/stop"]);
});
