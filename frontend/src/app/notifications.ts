/**
 * Tells of answers that end while nobody looks at Parley: a badge with their number, and a
 * notification of a long one where its reader has switched that on in this browser.
 */
import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { useCallback, useEffect } from "react";
import { getConversation } from "@/api/conversations";
import { locale } from "@/lib/locale";
import { readStored, removeStored, writeStored } from "@/lib/storage";
import type { ServerEvent } from "./events";

/** The id of the user who wants notifications in this browser. */
const WANTED_KEY = "parley.notifications";
/** The conversations with an answer that nobody has seen: of all tabs. */
const UNREAD_KEY = "parley.unread";
/** The lock that each tab in sight holds: a hidden one finds out that another is looked at. */
const SEEN_LOCK = "parley.seen";
/** Who waits for less has not gone away. */
const LONG_MS = 10_000;

const ENDINGS: Partial<Record<string, MessageDescriptor>> = {
  completed: msg`The answer is ready.`,
  failed: msg`The answer failed.`,
  blocked: msg`The answer was withheld.`,
};

export type NotificationState = "on" | "off" | "refused" | "missing";

export function notificationState(userId: string): NotificationState {
  if (!("Notification" in window && "serviceWorker" in navigator)) return "missing";
  if (Notification.permission === "denied") return "refused";
  const isWanted = readStored(WANTED_KEY) === userId;
  return isWanted && Notification.permission === "granted" ? "on" : "off";
}

/** Asks the browser's user for permission where that is needed. */
export async function switchNotifications(userId: string, on: boolean): Promise<NotificationState> {
  if (!on) removeStored(WANTED_KEY);
  else if ((await Notification.requestPermission()) === "granted") writeStored(WANTED_KEY, userId);
  return notificationState(userId);
}

/** What to do with each event of the server. */
export function useAnswerNotifications(userId: string): (event: ServerEvent) => void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another user sees no titles of this one
  useEffect(() => {
    let release = () => {};
    const onVisibility = () => {
      release();
      if (document.visibilityState === "hidden") return;
      release = holdSeen();
      markAllSeen();
    };
    onVisibility();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      document.removeEventListener("visibilitychange", onVisibility);
      release();
      // Signed out: titles of chats do not stay on the screen.
      markAllSeen();
    };
  }, [userId]);
  return useCallback(
    (event) => {
      if (event.type === "generation.started") started(event);
      // Deleted meanwhile, or without a connection: there is nothing to tell.
      if (event.type === "generation.finished") finished(userId, event).catch(() => undefined);
    },
    [userId],
  );
}

const startedAt = new Map<string, number>();

function started({ conversation_id: id = "" }: ServerEvent): void {
  if (!startedAt.has(id)) startedAt.set(id, Date.now());
}

async function finished(userId: string, event: ServerEvent): Promise<void> {
  const { conversation_id: id = "", message_id } = event;
  const began = startedAt.get(id) ?? Date.now();
  const isLong = Date.now() - began >= LONG_MS;
  startedAt.delete(id);
  if (await isSeen()) return;
  const { title, messages } = await getConversation(id, null);
  const answer = messages.find((message) => message.id === message_id);
  if (answer?.finish_reason === "tool_calls") {
    startedAt.set(id, began); // a round of the answer, which goes on
    return;
  }
  const ending = ENDINGS[answer?.status ?? ""];
  if (!ending || (await isSeen())) return;
  addUnread(id);
  if (!isLong || notificationState(userId) !== "on") return;
  const registration = await navigator.serviceWorker.getRegistration();
  await registration?.showNotification(title || t`New chat`, {
    body: t(ending),
    icon: "/static/app/icon-192.png",
    lang: locale(),
    // Several hidden tabs show one.
    tag: id,
    data: { path: `/c/${id}` },
  });
}

/** Until the returned function is called. Browsers without locks ask this tab alone. */
function holdSeen(): () => void {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  if ("locks" in navigator) {
    navigator.locks.request(SEEN_LOCK, { mode: "shared" }, () => held).catch(() => undefined);
  }
  return release;
}

async function isSeen(): Promise<boolean> {
  if (document.visibilityState !== "hidden") return true;
  if (!("locks" in navigator)) return false;
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === SEEN_LOCK);
}

function addUnread(id: string): void {
  const unread = new Set(readStored(UNREAD_KEY)?.split(" "));
  unread.add(id);
  writeStored(UNREAD_KEY, [...unread].join(" "));
  if ("setAppBadge" in navigator) navigator.setAppBadge(unread.size).catch(() => undefined);
}

function markAllSeen(): void {
  removeStored(UNREAD_KEY);
  if ("clearAppBadge" in navigator) navigator.clearAppBadge().catch(() => undefined);
  void closeNotifications().catch(() => undefined);
}

async function closeNotifications(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const registration = await navigator.serviceWorker.getRegistration();
  for (const shown of (await registration?.getNotifications()) ?? []) shown.close();
}
