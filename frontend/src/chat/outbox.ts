/**
 * Sends what waits for the connection, when it is back: each chat's messages in their order, each
 * below the end of the answer to the one before, once.
 *
 * One tab at a time sends those of a chat (a Web Lock, which a closed tab gives back). A message
 * leaves the list when the server has taken it; a tab that dies before leaves it to the next one,
 * which sends it under the same `Idempotency-Key` and gets the answer to the first.
 */
import { t } from "@lingui/core/macro";
import type { QueryClient } from "@tanstack/react-query";
import { createConversation, patchConversation } from "@/api/conversations";
import { ApiError, errorMessage, NetworkError } from "@/api/errors";
import { newKey } from "@/lib/uuid";
import { pause } from "@/stream/generation";
import { isDeleted, refreshConversation, refreshLists } from "./cache";
import { NEW_CHAT } from "./drafts";
import { isRunning, liveAnswer } from "./live";
import {
  drop,
  followOutbox,
  type HeldMessage,
  isWaiting,
  patchHeld,
  readOutbox,
  useOutbox,
} from "./outbox-store";
import { sendTurn } from "./send-turn";
import { dismissFailure } from "./turns";

const BACKOFF_MS = [2000, 5000, 10_000, 30_000];
const RUNNING_MS = 2000;
/** The server forgets a key after 24 hours (docs/api.md); later it would be another message. */
const KEY_KEPT_MS = 23 * 60 * 60 * 1000;
const PASSING = new Set([401, 502, 503, 504]);
const never = new AbortController().signal;

/** Sends until the returned call, whenever there is something to send and a line. */
export function startOutbox(client: QueryClient): () => void {
  const sending = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let stopped = false;

  const wake = () => {
    if (stopped || !navigator.onLine) return;
    const chats = new Set(
      useOutbox
        .getState()
        .messages.filter(isWaiting)
        .map(({ chat }) => chat),
    );
    for (const chat of chats) if (!sending.has(chat)) void send(chat);
  };
  const send = async (chat: string) => {
    sending.add(chat);
    const sent = await alone(chat, () => sendAll(client, chat, () => stopped)).catch(() => false);
    if (sent) {
      failures = 0;
      sending.delete(chat);
      return wake(); // one that was written in the last moment
    }
    const wait = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 30_000;
    failures += 1;
    timer = setTimeout(() => {
      sending.delete(chat);
      wake();
    }, wait);
  };
  const onOnline = () => {
    failures = 0;
    wake();
  };
  const unfollow = followOutbox();
  const unsubscribe = useOutbox.subscribe(wake);
  window.addEventListener("online", onOnline);
  wake();
  return () => {
    stopped = true;
    clearTimeout(timer);
    unsubscribe();
    unfollow();
    window.removeEventListener("online", onOnline);
  };
}

/** Browsers have no locks without TLS: there the key alone keeps a message from being sent twice. */
async function alone<T>(chat: string, work: () => Promise<T>): Promise<T> {
  if (!("locks" in navigator)) return work();
  return navigator.locks.request(`parley.outbox.${chat}`, work);
}

/** False: the line is not back after all, and some of them still wait. */
async function sendAll(
  client: QueryClient,
  chat: string,
  isStopped: () => boolean,
): Promise<boolean> {
  for (;;) {
    if (isStopped()) return false;
    const next = (await readOutbox()).find((held) => held.chat === chat && isWaiting(held));
    if (!next) return true;
    try {
      if (next.begins) await begin(next, next.begins);
      else await deliver(client, next);
    } catch (error) {
      if (isPassing(error)) return false;
      await refuse(client, next, error);
    }
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof NetworkError || (error instanceof ApiError && PASSING.has(error.status));

/** Makes a conversation of a new chat; all its messages move there, where they are sent. */
async function begin(
  { chat, model, first }: HeldMessage,
  { projectId, assistantId }: NonNullable<HeldMessage["begins"]>,
): Promise<void> {
  const { id } = await createConversation(model || null, projectId, false, assistantId);
  let leading = true;
  await patchHeld((held) => {
    if (held.chat !== chat || !isWaiting(held)) return null;
    const patch = { chat: id, begins: null, first: leading ? first : null };
    leading = false;
    return patch;
  });
}

async function deliver(client: QueryClient, held: HeldMessage): Promise<void> {
  const { key, chat: conversationId, parts, model, tried } = held;
  if (tried && Date.now() - tried.at > KEY_KEPT_MS) {
    throw new Lapsed(
      t`Perhaps it was sent already, before the connection broke. Look at the chat.`,
    );
  }
  if (held.first) await patchConversation(conversationId, held.first);
  const parentId = tried ? tried.parentId : await endOf(client, conversationId);
  if (!(await isTried(key, parentId))) return;
  let taken = false;
  await sendTurn(
    client,
    { conversationId, parts, parentId, model },
    {
      key,
      onTaken: () => {
        taken = true;
        return drop(key);
      },
      onUnreachable: async () => {},
    },
  );
  if (taken) return;
  const failed = liveAnswer(conversationId);
  const error = failed?.sent?.key === key ? failed.error : null;
  if (!error) throw new NetworkError();
  dismissFailure(conversationId);
  if (failed?.stopping) throw new Lapsed(error.message);
  refreshLists(client);
  throw error;
}

/** Its message is for the reader, who decides. */
class Lapsed extends Error {}

/** The last message of the conversation, once no answer is coming there; null: it has none. */
async function endOf(client: QueryClient, id: string): Promise<string | null> {
  for (;;) {
    const { generation, messages } = await refreshConversation(client, id);
    if (!generation && !isRunning(liveAnswer(id))) return messages.at(-1)?.id ?? null;
    await pause(RUNNING_MS, never);
  }
}

/** Notes what is sent now, so that whoever sends it again sends the same; false: taken back. */
async function isTried(key: string, parentId: string | null): Promise<boolean> {
  let found = false;
  await patchHeld((held) => {
    if (held.key !== key) return null;
    found = true;
    return { tried: held.tried ?? { parentId, at: Date.now() }, first: null };
  });
  return found;
}

/**
 * The message was not taken, and so those behind it are not sent: their reader decides. Of a
 * conversation that is gone they wait at the new chat.
 */
function refuse(client: QueryClient, { chat, begins }: HeldMessage, error: unknown): Promise<void> {
  const gone =
    begins === null &&
    (isDeleted(client, chat) || (error instanceof ApiError && error.status === 404));
  const refusal = error instanceof Lapsed ? error.message : errorMessage(error);
  const elsewhere = { chat: NEW_CHAT, begins: { projectId: null, assistantId: null } };
  return patchHeld((held) =>
    held.chat === chat && isWaiting(held) ? { refusal, ...(gone && elsewhere) } : null,
  );
}

/** Sends a refused message again: as a new one, since the server has none of it. */
export const tryAgain = (key: string): Promise<void> =>
  patchHeld((held) => (held.key === key ? { refusal: null, tried: null, key: newKey() } : null));
