import { expect, it, vi } from "vitest";
import { allProjects } from "./teams";

it("has every project for who chooses one, however many pages there are", async () => {
  const rows = Array.from({ length: 205 }, (_, n) => ({
    id: `p${n}`,
    archived_at: n === 204 ? "2026-11-01T00:00:00Z" : null,
  }));
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    const from = Number(new URL(path, "http://localhost").searchParams.get("cursor") ?? 0);
    const next = from + 100 < rows.length ? String(from + 100) : null;
    return new Response(JSON.stringify({ data: rows.slice(from, from + 100), next_cursor: next }));
  });
  const found = await allProjects();
  expect(found.map(({ id }) => id)).toEqual(rows.slice(0, 204).map(({ id }) => id));
  expect(asked).toHaveLength(3);
});
