/** What can go wrong between the page and the API, as types that components can tell apart. */
import { t } from "@lingui/core/macro";
import { noteFailure } from "./failures";

/** The API's error object: OpenAI's fields, and further ones such as the safety categories. */
export interface ErrorBody {
  message: string;
  type?: string;
  code?: string | null;
  param?: string | null;
  [detail: string]: unknown;
}

/** The API answered, and the answer is an error. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    readonly status: number,
    readonly body: ErrorBody,
    /** Seconds after which a retry makes sense, from Retry-After. */
    readonly retryAfter: number | null = null,
    readonly requestId: string | null = null,
  ) {
    super(body.message);
  }

  get code(): string | null {
    return this.body.code ?? null;
  }

  /** Of a refused chat turn: the messages that hold the question and the failed answer. */
  get turn(): { user_message_id: string; message_id: string } | null {
    const turn = this.body.parley as
      | { user_message_id?: unknown; message_id?: unknown }
      | undefined;
    if (typeof turn?.user_message_id !== "string" || typeof turn.message_id !== "string")
      return null;
    return { user_message_id: turn.user_message_id, message_id: turn.message_id };
  }

  get isRateLimit(): boolean {
    return this.status === 429 && this.code !== "insufficient_quota";
  }

  get isBlocked(): boolean {
    return this.code === "content_policy_violation";
  }

  /** No model reads as much: sending it again cannot help. */
  get isTooLong(): boolean {
    return this.code === "context_length_exceeded";
  }

  /** Refused for self-harm: the reader is shown where to find help, and no policy. */
  get isSelfHarm(): boolean {
    return this.code === "self_harm_support";
  }

  /** The safety categories of a refusal, for example `["violence"]`. */
  get categories(): string[] {
    const nested = this.body.details as { categories?: unknown } | undefined;
    const found = this.body.categories ?? nested?.categories;
    return Array.isArray(found) ? found.map(String) : [];
  }
}

/** No answer came: offline, the server is down, or the connection broke. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";

  constructor(cause?: unknown) {
    super(t`Parley can't be reached. Check your connection.`, { cause });
  }
}

/** The user closed the browser's dialog, or it has no passkey: browsers do not say which. */
export class PasskeyRefused extends Error {
  override readonly name = "PasskeyRefused";

  constructor(cause: unknown) {
    super(t`The browser gave no passkey. Try again, or use another way.`, { cause });
  }
}

const readable = [ApiError, NetworkError, PasskeyRefused];

/** One sentence for a person, whatever was thrown. */
export function errorMessage(error: unknown): string {
  if (error instanceof Error && readable.some((kind) => error instanceof kind))
    return error.message;
  return t`Something went wrong. Please try again.`;
}

/** Reads a failed response into an ApiError; a body that is no error object still gets one. */
export async function apiErrorFrom(response: Response): Promise<ApiError> {
  const retryAfter = parseRetryAfter(response.headers.get("Retry-After"));
  const requestId = response.headers.get("X-Request-Id");
  const { status } = response;
  const fallback: ErrorBody = { message: t`The server answered ${status}.` };
  const parsed = await response.json().catch(() => null);
  const body = isErrorEnvelope(parsed) ? await inPageWords(parsed.error) : fallback;
  noteFailure({ message: body.message, status, requestId });
  return new ApiError(status, body, retryAfter, requestId);
}

/** The error with the page's own message, where the page has one for its code. */
export async function inPageWords(error: ErrorBody): Promise<ErrorBody> {
  if (!error.code) return error;
  // Without the table the server's words are there.
  const texts = await import("./error-texts").catch(() => null);
  return { ...error, message: texts?.errorText(error) ?? error.message };
}

/** Seconds from a Retry-After header, which holds seconds or an HTTP date (RFC 9110, 10.2.3). */
export function parseRetryAfter(value: string | null, now = Date.now()): number | null {
  if (!value) return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, Math.ceil(seconds));
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now) / 1000));
}

function isErrorEnvelope(value: unknown): value is { error: ErrorBody } {
  const error = (value as { error?: unknown } | null)?.error;
  return typeof (error as ErrorBody | undefined)?.message === "string";
}
