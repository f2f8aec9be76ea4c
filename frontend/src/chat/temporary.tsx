/** Chats that are in no list, and that leave nothing on the server when they end. */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { MessageCircleDashed } from "lucide-react";
import { useEffect } from "react";
import { deleteConversation } from "@/api/conversations";
import { IconButton } from "@/ui/icon-button";
import { conversationKey } from "./cache";
import { forgetAnswer } from "./turns";

interface TemporaryButtonProps {
  value: boolean;
  onChange: (value: boolean) => void;
}

export function TemporaryButton({ value, onChange }: TemporaryButtonProps) {
  return (
    <IconButton
      label={t`Temporary chat`}
      aria-pressed={value}
      className="aria-pressed:bg-hover aria-pressed:text-foreground"
      onClick={() => onChange(!value)}
    >
      <MessageCircleDashed className="size-4.5" />
    </IconButton>
  );
}

export function TemporaryNotice() {
  return (
    <p role="status" className="px-4 pb-2 text-center text-muted-foreground text-sm">
      <Trans>Temporary chat: it is in no list, and is erased when you leave it.</Trans>
    </p>
  );
}

/** Ends the chat `id` when the reader goes to another page; a reload keeps it. */
export function useEndOnLeave(id: string | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!id) return;
    return () => {
      // A moment later the address says where the reader is: here, when React only looks twice.
      setTimeout(() => {
        if (window.location.pathname === `/c/${id}`) return;
        forgetAnswer(id);
        client.removeQueries({ queryKey: conversationKey(id) });
        // What fails is erased an hour later by the server.
        deleteConversation(id).catch(() => undefined);
      });
    };
  }, [client, id]);
}
