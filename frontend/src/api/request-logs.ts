/** What one API key may, has done, and was answered. */
import { api, withQuery } from "./client";
import type { Page } from "./teams";
import type { ApiKey, KeyLimit, KeyOutcomes, RequestLog, RequestLogView } from "./types";

export const getKey = (id: string) => api<ApiKey>(`/api/keys/${id}`);

export const getKeyLimits = (id: string) =>
  api<{ data: KeyLimit[] }>(`/api/keys/${id}/limits`).then((page) => page.data);

export const getKeyOutcomes = (id: string) => api<KeyOutcomes>(`/api/keys/${id}/outcomes`);

export const deleteRequestLogs = (id: string) =>
  api<void>(`/api/keys/${id}/request-logs`, { method: "DELETE" });

/** "" restricts nothing. */
export interface LogFilters {
  outcome: "" | "succeeded" | "failed";
  text: string;
}

export const listRequestLogs = (id: string, filters: LogFilters, cursor: string | null) =>
  api<Page<RequestLog>>(
    withQuery("/api/request-logs", { key_id: id, ...filters, cursor: cursor ?? "" }),
  );

export const getRequestLog = (id: string) => api<RequestLogView>(`/api/request-logs/${id}`);
