/**
 * The one client of the API: same-origin requests with the session cookie and the CSRF token.
 * Everything that fails is an ApiError or a NetworkError; an aborted request stays an AbortError.
 */
import { language } from "@/lib/locale";
import { apiErrorFrom, NetworkError } from "./errors";
import { takeFirst } from "./first-requests";

const MAX_KEEPALIVE_BYTES = 32 * 1024;

export interface RequestOptions {
  method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Sent as JSON, except FormData, which is sent as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** It is sent even when the tab is closed at once, as all PATCH and DELETE are. */
  keepalive?: boolean;
}

/** The raw response of a successful request; for streams. */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, signal } = options;
  const headers = new Headers(options.headers);
  // Of the page, which is not always the browser's: mails are in it.
  headers.set("Accept-Language", language());
  if (method !== "GET") headers.set("X-CSRFToken", csrfToken());
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) headers.set("Content-Type", "application/json");
  const sent = body === undefined ? null : isForm ? body : JSON.stringify(body);
  let response: Response;
  try {
    const first = method === "GET" ? takeFirst(path) : undefined;
    response = await (first ??
      fetch(path, {
        method,
        headers,
        credentials: "same-origin",
        cache: "no-store",
        body: sent,
        signal: signal ?? null,
        // keepalive: a rename or delete is done even when the tab is closed at once.
        keepalive:
          (options.keepalive || method === "PATCH" || method === "DELETE") && fitsKeepalive(sent),
      }));
    signal?.throwIfAborted();
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new NetworkError(cause);
  }
  if (!response.ok) throw await apiErrorFrom(response);
  return response;
}

/** Browsers refuse to keep more than 64 KiB alive, of all requests together. */
function fitsKeepalive(sent: string | FormData | null): boolean {
  return (
    sent === null || (typeof sent === "string" && new Blob([sent]).size <= MAX_KEEPALIVE_BYTES)
  );
}

/** A successful request's JSON; undefined where the answer has no body (204, 202). */
export async function api<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await request(path, options);
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** `path?a=1&b=2` without the parameters that have no value. */
export function withQuery(
  path: string,
  params: Record<string, string | number | boolean | null | undefined>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

function csrfToken(): string {
  return /(?:^|;\s*)(?:__Host-)?csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? "";
}
