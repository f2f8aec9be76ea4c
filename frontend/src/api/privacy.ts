/** How data is kept, copied and erased. */
import { api, withQuery } from "./client";
import type { DataExport, DataExportList, DataPolicy } from "./types";

export const policyKey = ["data-policy"] as const;

export const getDataPolicy = () => api<DataPolicy>("/api/data-policy");

export interface PolicyChange {
  retention_days: number | null;
  stores_api_calls: boolean;
  allows_training: boolean;
  logs_requests?: boolean;
  request_log_days?: number;
}

export const putDataPolicy = (body: PolicyChange) =>
  api<DataPolicy>("/api/data-policy", { method: "PUT", body });

export interface ReuseChange {
  shares_running: boolean;
  answer_cache: DataPolicy["answer_cache"];
  answer_cache_s: number;
  reuses_sampled: boolean;
}

export const putAnswerReuse = (body: ReuseChange) =>
  api<DataPolicy>("/api/data-policy/reuse", { method: "PUT", body });

export const putTraining = (allowed: boolean) =>
  api<DataPolicy>("/api/data-policy/training", { method: "PUT", body: { allowed } });

export const listExports = () => api<DataExportList>(withQuery("/api/exports", { limit: "10" }));

export const createExport = (scope: "me" | "organization") =>
  api<DataExport>("/api/exports", { method: "POST", body: { scope } });

/** A link that downloads it, for ten minutes. */
export const exportLink = (id: string) =>
  api<{ url: string }>(`/api/exports/${id}/link`, { method: "POST" });

export const eraseOrganization = (name: string) =>
  api<void>("/api/erasures/organization", { method: "POST", body: { name } });
