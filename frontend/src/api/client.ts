/**
 * The one door to the API: same-origin requests with the session cookie and the CSRF token.
 * Everything that fails is an ApiError or a NetworkError; an aborted request stays an AbortError.
 */
import { apiErrorFrom, NetworkError } from "./errors";

export interface RequestOptions {
  method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Sent as JSON, except FormData, which is sent as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The raw response of a successful request; for streams. */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, signal } = options;
  const headers = new Headers(options.headers);
  if (method !== "GET") headers.set("X-CSRFToken", csrfToken());
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) headers.set("Content-Type", "application/json");
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      cache: "no-store",
      body: body === undefined ? null : isForm ? body : JSON.stringify(body),
      signal: signal ?? null,
      // Somebody who renames or deletes, and closes the tab at once, has still done it.
      keepalive: method === "PATCH" || method === "DELETE",
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new NetworkError(cause);
  }
  if (!response.ok) throw await apiErrorFrom(response);
  return response;
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
  return /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? "";
}
