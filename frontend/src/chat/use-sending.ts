import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import {
  type ConversationPatch,
  createConversation,
  deleteConversation,
  patchConversation,
} from "@/api/conversations";
import { errorMessage, NetworkError } from "@/api/errors";
import type { Part } from "@/api/types";
import { newKey } from "@/lib/uuid";
import { toast } from "@/ui/toast";
import { compare } from "./compare";
import { hasWaiting, hold, placeOf } from "./outbox-store";
import { sendTurn } from "./send-turn";

import { dismissFailure } from "./turns";
import { isStored, type ViewMessage } from "./view";

/**
 * How a message is sent; a new chat becomes a conversation with its first one, and `first` is
 * stored of it before. With `compared` several models answer it. `send` rejects when nothing was
 * sent. Without a connection the message waits (outbox.ts), except one to several models, and of a
 * temporary chat, of which nothing is kept. While the conversation is `starting`,
 * `abandon` takes its message back.
 */
export function useSending(
  id: string | undefined,
  model: string,
  projectId: string | null,
  first: ConversationPatch,
  temporary: boolean,
  assistantId: string | null,
  messages: ViewMessage[],
  compared: string[],
) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [starting, setStarting] = useState(false);
  const shown = useRef(true);
  const abandoned = useRef(false);
  const latest = useRef(messages);
  useEffect(() => {
    latest.current = messages;
  });
  useEffect(() => {
    shown.current = true;
    return () => {
      shown.current = false;
    };
  }, []);

  return useMemo(() => {
    const place = id ?? placeOf(assistantId);
    const waits = !temporary && compared.length < 2;
    const wait = (parts: Part[]) =>
      hold({
        key: newKey(),
        chat: place,
        parts,
        model,
        begins: id ? null : { projectId, assistantId },
        first: id || Object.keys(first).length === 0 ? null : first,
        tried: null,
      });
    const turn = (conversationId: string, parts: Part[], parentId: string | null) => {
      if (compared.length > 1) {
        return compare(client, { conversationId, parts, parentId }, compared);
      }
      const key = newKey();
      const tried = { parentId, at: Date.now() };
      const held = { key, chat: conversationId, parts, model, begins: null, first: null, tried };
      const onUnreachable = temporary ? undefined : () => hold(held);
      return sendTurn(client, { conversationId, parts, parentId, model }, { key, onUnreachable });
    };
    const start = async (parts: Part[]) => {
      let begun = false;
      abandoned.current = false;
      setStarting(true);
      try {
        const { id: conversationId } = await createConversation(
          model || null,
          projectId,
          temporary,
          assistantId,
        );
        begun = true;
        if (abandoned.current) {
          void deleteConversation(conversationId).catch(() => undefined);
          throw new Error("stopped before it was sent");
        }
        if (Object.keys(first).length > 0) await patchConversation(conversationId, first);
        void turn(conversationId, parts, null);
        // Whoever has gone on to another page meanwhile is not called back.
        if (shown.current) await navigate(`/c/${conversationId}`);
      } catch (error) {
        const isLost = error instanceof NetworkError && !begun && !abandoned.current;
        if (isLost && waits) return await wait(parts);
        if (!abandoned.current) toast(errorMessage(error));
        throw error;
      } finally {
        setStarting(false);
      }
    };
    const send = async (parts: Part[]) => {
      if (parts.length === 0) return;
      if (waits && (!navigator.onLine || hasWaiting(place))) return wait(parts);
      if (!id) return start(parts);
      dismissFailure(id);
      const last = latest.current.findLast((message) => !message.live && isStored(message));
      await turn(id, parts, last?.id ?? null);
    };
    const abandon = () => {
      abandoned.current = true;
    };
    return { send, starting, abandon };
  }, [client, navigate, id, model, projectId, first, temporary, assistantId, starting, compared]);
}
