/**
 * Keeps this tab in step with the others and with the server, over /ws/events.
 *
 * An event says only what has changed; what it is now is read from the API. When a connection
 * opens, the first one too, everything is read again: what happened before was not sent.
 */
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import {
  contextKey,
  conversationKey,
  isDeleted,
  patchRow,
  readAgain,
  refreshConversation,
  refreshLists,
  toolCallsKey,
} from "@/chat/cache";
import { isRunning, liveAnswer } from "@/chat/live";
import { forgetAnswer } from "@/chat/turns";
import { whenIdle } from "@/lib/idle";
import { meKey } from "./session";

export interface ServerEvent {
  /** One of `CHANGES`, `conversation.deleted`, or what a newer server says beside these. */
  type: string;
  conversation_id?: string;
  /** Of a generation: the answer that it writes. */
  message_id?: string;
}

const CHANGES = new Set(["conversation.changed", "generation.started", "generation.finished"]);

const BACKOFF_MS = [500, 1000, 2000, 5000, 10_000];
const NOT_SIGNED_IN = 4401;

/** After so long out of sight (a closed lid), a socket that looks open may lead nowhere. */
const ASLEEP_MS = 30_000;

/** Where the socket of a page is: over TLS where the page is. */
export function socketUrl(page: string): URL {
  const url = new URL("/ws/events", page);
  url.protocol = url.protocol.replace("http", "ws");
  return url;
}

export function useServerEvents(
  onDeleted: (conversationId: string) => void,
  onEvent?: (event: ServerEvent) => void,
): void {
  const client = useQueryClient();
  // The page that is shown may change with every navigation; the socket stays.
  const latest = useRef({ onDeleted, onEvent });
  useEffect(() => {
    latest.current = { onDeleted, onEvent };
  });
  useEffect(() => {
    let socket: WebSocket | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    let stopped = false;
    let hiddenAt = 0;

    const later = () => {
      const most = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 10_000;
      // Half to all of it, so that not all tabs come back to a new server at one moment.
      timer = setTimeout(connect, most * (0.5 + Math.random() / 2));
      failures += 1;
    };
    const connect = () => {
      clearTimeout(timer);
      if (socket) socket.onclose = null;
      socket?.close();
      socket = new WebSocket(socketUrl(window.location.href));
      socket.onopen = () => {
        catchUp(client);
        failures = 0;
      };
      socket.onmessage = ({ data }) => {
        const event = JSON.parse(String(data)) as ServerEvent;
        handle(client, event, (id) => latest.current.onDeleted(id));
        latest.current.onEvent?.(event);
      };
      socket.onclose = ({ code }) => {
        if (stopped) return;
        // Signed out, here or in another tab: /api/me decides. If not, the shell ends this
        // effect; if the user is still signed in, the socket is tried again.
        if (code === NOT_SIGNED_IN) void client.invalidateQueries({ queryKey: meKey });
        later();
      };
    };
    const onOnline = () => {
      if (socket?.readyState === WebSocket.CLOSED) connect();
      catchUp(client);
    };
    const onVisibility = () => {
      if (document.visibilityState === "hidden") hiddenAt = Date.now();
      else if (hiddenAt && Date.now() - hiddenAt > ASLEEP_MS) connect();
    };
    // What happened until it is open is read then.
    const leave = whenIdle(connect);
    document.addEventListener("visibilitychange", onVisibility);
    window.addEventListener("online", onOnline);
    return () => {
      stopped = true;
      leave();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisibility);
      window.removeEventListener("online", onOnline);
      socket?.close();
    };
  }, [client]);
}

function handle(
  client: QueryClient,
  event: ServerEvent,
  onDeleted: (conversationId: string) => void,
): void {
  const id = event.conversation_id;
  if (!id) return;
  if (event.type === "conversation.deleted") {
    forgetAnswer(id);
    patchRow(client, id, () => null);
    refreshLists(client);
    client.removeQueries({ queryKey: conversationKey(id) });
    onDeleted(id);
  } else if (CHANGES.has(event.type)) {
    refreshLists(client);
    void client.invalidateQueries({ queryKey: toolCallsKey(id) });
    // A summary was made or undone; of a turn that begins, the gauge is read after its end.
    if (event.type === "conversation.changed") {
      void client.invalidateQueries({ queryKey: contextKey(id) });
    }
    // Restored from another page, or changed a moment before it is deleted here.
    if (isDeleted(client, id)) readAgain(client, id);
    // This tab's own answers are followed by their stream, and read again at its end.
    else if (!isRunning(liveAnswer(id))) refreshIfOpen(client, id);
  }
}

function refreshIfOpen(client: QueryClient, id: string): void {
  if (client.getQueryState(conversationKey(id)) === undefined) return;
  void refreshConversation(client, id).catch(() => undefined);
}

function catchUp(client: QueryClient): void {
  refreshLists(client);
  for (const query of client.getQueryCache().findAll({ queryKey: ["conversation"] })) {
    const id = String(query.queryKey[1]);
    if (query.isActive() && !isRunning(liveAnswer(id))) refreshIfOpen(client, id);
  }
}
