/** Requests about appeals: asking a person to look at what was stopped. */
import { api, withQuery } from "./client";
import type { Appeal } from "./types";

/** The appeal about a generation, or null where the reader has not appealed. */
export async function getAppeal(generationId: string): Promise<Appeal | null> {
  const path = withQuery("/api/appeals", { generation_id: generationId });
  return (await api<{ data: Appeal[] }>(path)).data[0] ?? null;
}

export const postAppeal = (generationId: string, reason: string) =>
  api<Appeal>("/api/appeals", {
    method: "POST",
    body: { generation_id: generationId, reason },
  });
