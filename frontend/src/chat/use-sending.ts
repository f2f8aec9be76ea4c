import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import {
  type ConversationPatch,
  createConversation,
  deleteConversation,
  patchConversation,
} from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { Part } from "@/api/types";
import { toast } from "@/ui/toast";
import { compare } from "./compare";
import { sendTurn, type Turn } from "./send-turn";
import { dismissFailure } from "./turns";
import { isStored, type ViewMessage } from "./view";

/**
 * How a message is sent; a new chat becomes a conversation with its first one, and `first` is
 * stored of it before. With `compared` several models answer it. `send` rejects when nothing was sent. While the conversation is `starting`,
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
    const ask = (turn: Turn) =>
      compared.length > 1 ? compare(client, turn, compared) : sendTurn(client, turn);
    const start = async (parts: Part[]) => {
      abandoned.current = false;
      setStarting(true);
      try {
        const { id: conversationId } = await createConversation(
          model || null,
          projectId,
          temporary,
          assistantId,
        );
        if (abandoned.current) {
          void deleteConversation(conversationId).catch(() => undefined);
          throw new Error("stopped before it was sent");
        }
        if (Object.keys(first).length > 0) await patchConversation(conversationId, first);
        void ask({ conversationId, parts, parentId: null, model });
        // Whoever has gone on to another page meanwhile is not called back.
        if (shown.current) await navigate(`/c/${conversationId}`);
      } catch (error) {
        if (!abandoned.current) toast(errorMessage(error));
        throw error;
      } finally {
        setStarting(false);
      }
    };
    const send = async (parts: Part[]) => {
      if (parts.length === 0) return;
      if (!id) return start(parts);
      dismissFailure(id);
      const last = latest.current.findLast((message) => !message.live && isStored(message));
      await ask({ conversationId: id, parts, parentId: last?.id ?? null, model });
    };
    const abandon = () => {
      abandoned.current = true;
    };
    return { send, starting, abandon };
  }, [client, navigate, id, model, projectId, first, temporary, assistantId, starting, compared]);
}
