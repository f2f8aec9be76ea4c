import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  cancelGeneration,
  createShare,
  deleteConversation,
  deleteShare,
  eraseTrash,
  getConversation,
  patchConversation,
  postRegenerate,
  postTurn,
  putFeedback,
  restoreConversation,
} from "./conversations";

const fetchMock = vi.fn<typeof fetch>();

beforeEach(() => {
  fetchMock.mockReset();
  fetchMock.mockImplementation(async () => Response.json({}));
  vi.stubGlobal("fetch", fetchMock);
});

const HOSTILE = "../me?x=#y";
const { signal } = new AbortController();

describe("paths", () => {
  it.each([
    ["getConversation", () => getConversation(HOSTILE, null)],
    ["patchConversation", () => patchConversation(HOSTILE, { title: "x" })],
    ["deleteConversation", () => deleteConversation(HOSTILE)],
    ["restoreConversation", () => restoreConversation(HOSTILE)],
    ["postTurn", () => postTurn(HOSTILE, { content: "x" }, "key", signal)],
    ["postRegenerate", () => postRegenerate(HOSTILE, undefined, signal)],
    ["cancelGeneration", () => cancelGeneration(HOSTILE)],
    ["putFeedback", () => putFeedback(HOSTILE, 1)],
    ["createShare", () => createShare(HOSTILE, 30)],
    ["deleteShare", () => deleteShare(HOSTILE)],
  ])("of %s hold the id as one segment", async (_, send) => {
    await send();
    const path = String(fetchMock.mock.calls[0]?.[0]);
    expect(path).toContain(`/${encodeURIComponent(HOSTILE)}`);
    expect(new URL(path, "http://parley").pathname).not.toBe("/api/me");
  });
});

describe("keepalive", () => {
  const sentWith = async (title: string) => {
    await patchConversation("c", { title });
    return fetchMock.mock.calls[0]?.[1]?.keepalive;
  };

  it("outlives the tab for a small change", async () => {
    expect(await sentWith("x")).toBe(true);
  });

  it("is off above what browsers allow, counted in bytes", async () => {
    expect(await sentWith("ü".repeat(40_000))).toBe(false);
  });
});

describe("chats erased from the trash", () => {
  const asked = () =>
    fetchMock.mock.calls.map(([, init]) => JSON.parse(String(init?.body)).ids as string[] | "all");
  const answered = (...counts: [erased: number, generating: number, remaining: number][]) => {
    for (const [erased, generating, remaining] of counts) {
      fetchMock.mockImplementationOnce(async () =>
        Response.json({ erased, generating, remaining }),
      );
    }
  };

  it("are asked for until none remains", async () => {
    answered([3, 2, 5], [5, 2, 0]);
    expect(await eraseTrash("all")).toEqual({ erased: 8, generating: 2 });
    expect(asked()).toEqual(["all", "all"]);
  });

  it("are sent in parts that the server takes", async () => {
    const ids = Array.from({ length: 201 }, (_, place) => `id-${place}`);
    answered([150, 1, 49], [49, 1, 0], [0, 1, 0]);
    expect(await eraseTrash(ids)).toEqual({ erased: 199, generating: 2 });
    expect(asked()).toEqual([ids.slice(0, 200), ids.slice(0, 200), ids.slice(200)]);
  });

  it("are none where none was chosen", async () => {
    expect(await eraseTrash([])).toEqual({ erased: 0, generating: 0 });
    expect(fetchMock).not.toHaveBeenCalled();
  });
});
