/**
 * Keeps this tab in step with the others and with the server, over /ws/events.
 *
 * An event says only what has changed; what it is now is read from the API. When a connection
 * opens, the first one too, everything is read again: what happened before was told to nobody.
 */
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { conversationKey, patchRow, refreshConversation, refreshLists } from "@/chat/cache";
import { isRunning, liveAnswer } from "@/chat/live";
import { forgetAnswer } from "@/chat/turns";
import { meKey } from "./session";

interface ServerEvent {
  type:
    | "conversation.changed"
    | "conversation.deleted"
    | "generation.started"
    | "generation.finished";
  conversation_id?: string;
}

const BACKOFF_MS = [500, 1000, 2000, 5000, 10_000];
const NOT_SIGNED_IN = 4401;

export function useServerEvents(onDeleted: (conversationId: string) => void): void {
  const client = useQueryClient();
  useEffect(() => {
    let socket: WebSocket | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    let stopped = false;

    const connect = () => {
      clearTimeout(timer);
      const url = new URL("/ws/events", window.location.href);
      url.protocol = url.protocol.replace("http", "ws");
      socket = new WebSocket(url);
      socket.onopen = () => {
        catchUp(client);
        failures = 0;
      };
      socket.onmessage = ({ data }) => handle(client, JSON.parse(String(data)), onDeleted);
      socket.onclose = ({ code }) => {
        if (stopped) return;
        if (code === NOT_SIGNED_IN) {
          // Signed out, here or in another tab; /api/me decides, and the shell follows it.
          void client.invalidateQueries({ queryKey: meKey });
          return;
        }
        timer = setTimeout(connect, BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)]);
        failures += 1;
      };
    };
    const onOnline = () => {
      if (socket?.readyState === WebSocket.CLOSED) connect();
      catchUp(client);
    };
    connect();
    window.addEventListener("online", onOnline);
    return () => {
      stopped = true;
      clearTimeout(timer);
      window.removeEventListener("online", onOnline);
      socket?.close();
    };
  }, [client, onDeleted]);
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
    client.removeQueries({ queryKey: conversationKey(id) });
    onDeleted(id);
  } else {
    refreshLists(client);
    // This tab's own answers are followed by their stream, and read again at its end.
    if (!isRunning(liveAnswer(id))) refreshIfOpen(client, id);
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
