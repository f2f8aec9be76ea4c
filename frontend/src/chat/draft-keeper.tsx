import { useAui, useAuiState } from "@assistant-ui/react";
import { useEffect, useRef } from "react";
import { errorMessage } from "@/api/errors";
import type { Part } from "@/api/types";
import { toast } from "@/ui/toast";
import { type AttachmentUploads, asAttachment } from "./attachments";
import { draftOf, keepDraft, NEW_CHAT } from "./drafts";
import { textOfParts } from "./parts";
import { draftSharedText } from "./shared-text";

interface DraftKeeperProps {
  conversationId: string;
  uploads: AttachmentUploads;
}

/** Fills the composer with its draft when the conversation is opened, and keeps what is written. */
export function DraftKeeper({ conversationId, uploads }: DraftKeeperProps) {
  const putBack = usePutBack();
  const text = useAuiState((state) => state.composer.text);
  const attachments = useAuiState((state) => state.composer.attachments);
  const restored = useRef(false);
  const latest = useRef({ attachments, uploads });

  useEffect(() => {
    latest.current = { attachments, uploads };
    if (restored.current) keepDraft(conversationId, uploads.parts(text, attachments));
  }, [conversationId, text, attachments, uploads]);

  useEffect(() => {
    if (!restored.current) {
      if (conversationId === NEW_CHAT) draftSharedText();
      putBack(draftOf(conversationId));
    }
    restored.current = true;
    return () => {
      // Files that are still on their way arrive in the draft.
      for (const arriving of latest.current.uploads.arriving(latest.current.attachments)) {
        void arriving.then((part) => {
          if (part) keepDraft(conversationId, [...draftOf(conversationId), part]);
        });
      }
    };
  }, [conversationId, putBack]);
  return null;
}

/** Puts the text and files of a message into the composer, where they can be sent again. */
export function usePutBack(): (parts: Part[]) => void {
  const aui = useAui();
  const put = useRef((parts: Part[]) => {
    const text = textOfParts(parts);
    if (text) aui.composer.setText(text);
    for (const part of parts) {
      const attachment = asAttachment(part);
      if (!attachment) continue;
      aui.composer.addAttachment(attachment).catch((error) => toast(errorMessage(error)));
    }
  });
  return put.current;
}
