import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { getMe, listModels } from "./account";
import { getConversation, listConversations } from "./conversations";
import { firstConversation } from "./first-requests";

const ID = "3791c593-1809-4889-96fe-6ef3a7fa3566";
const scripts = import.meta.glob<string>("../../public/first-requests.js", {
  query: "?raw",
  import: "default",
  eager: true,
});
const asked = () => vi.mocked(fetch).mock.calls.map(([path]) => path);

/** As the document runs it, at `path`. */
function run(path: string): void {
  window.history.replaceState(null, "", path);
  for (const script of Object.values(scripts)) new Function(script)();
}

beforeEach(() => {
  vi.spyOn(performance, "now").mockReturnValue(500);
  vi.spyOn(window, "matchMedia").mockReturnValue({ matches: true } as MediaQueryList);
  vi.stubGlobal(
    "fetch",
    vi.fn<typeof fetch>(async (path) => Response.json({ asked: String(path) })),
  );
});

afterEach(() => {
  delete window.parleyFirst;
  window.history.replaceState(null, "", "/");
});

it("answers each first request of a conversation by the one that is on its way", async () => {
  run(`/c/${ID}`);
  const before = asked();
  expect(before).toHaveLength(4);
  await Promise.all([
    getMe(),
    listModels(),
    listConversations({ archived: false }, null),
    getConversation(ID, null),
  ]);
  expect(asked()).toEqual(before);
});

it("hands an answer out once", async () => {
  run("/");
  await listModels();
  await listModels();
  expect(asked().filter((path) => path === "/api/models")).toHaveLength(2);
});

it("hands out nothing that is old", async () => {
  run("/");
  vi.spyOn(performance, "now").mockReturnValue(30_000);
  await listModels();
  expect(asked().filter((path) => path === "/api/models")).toHaveLength(2);
});

it("passes an answer on that failed", async () => {
  vi.mocked(fetch).mockRejectedValueOnce(new TypeError("Failed to fetch"));
  run("/");
  await expect(getMe()).rejects.toThrow();
});

it("asks for no conversation at another address", () => {
  run("/c/..%2F..%2Fadmin");
  expect(asked()).not.toContainEqual(expect.stringContaining("admin"));
});

it("names the conversation until its messages are taken", async () => {
  expect(firstConversation()).toBeNull();
  run(`/c/${ID}`);
  expect(firstConversation()).toBe(ID);
  await getConversation(ID, null);
  expect(firstConversation()).toBeNull();
});
