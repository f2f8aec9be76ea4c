import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import { useNavigate } from "react-router";
import { createConversation } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { Part } from "@/api/types";
import { toast } from "@/ui/toast";
import { dismissFailure, sendTurn } from "./turns";
import { isStored, type ViewMessage } from "./view";

/** How a message is sent; a new chat becomes a conversation with its first one. */
export function useSending(id: string | undefined, model: string, messages: ViewMessage[]) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const latest = useRef(messages);
  useEffect(() => {
    latest.current = messages;
  });

  return useMemo(() => {
    const start = async (parts: Part[]) => {
      try {
        const { id: conversationId } = await createConversation(model || null);
        void sendTurn(client, { conversationId, parts, parentId: null, model });
        await navigate(`/c/${conversationId}`);
      } catch (error) {
        toast(errorMessage(error));
        throw error;
      }
    };
    const send = async (parts: Part[]) => {
      if (parts.length === 0) return;
      if (!id) return start(parts);
      dismissFailure(id);
      const last = latest.current.findLast((message) => !message.live && isStored(message));
      await sendTurn(client, { conversationId: id, parts, parentId: last?.id ?? null, model });
    };
    return send;
  }, [client, navigate, id, model]);
}
