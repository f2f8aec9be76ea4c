import { useCallback, useEffect, useRef } from "react";
import type { Part } from "@/api/types";
import { asAttachment } from "./attachments";
import { useComposing, useComposingState } from "./composing";
import { draftOf, keepDraft, NEW_CHAT } from "./drafts";
import { textOfParts } from "./parts";
import { draftSharedText } from "./shared-text";

/** Fills the composer with its draft when the conversation is opened, and keeps what is written. */
export function DraftKeeper({ conversationId }: { conversationId: string }) {
  const { uploads } = useComposing();
  const putBack = usePutBack();
  const text = useComposingState((state) => state.text);
  const files = useComposingState((state) => state.files);
  const restored = useRef(false);
  const latest = useRef(files);

  useEffect(() => {
    latest.current = files;
    if (restored.current) keepDraft(conversationId, uploads.parts(text, files));
  }, [conversationId, text, files, uploads]);

  useEffect(() => {
    if (!restored.current) {
      if (conversationId === NEW_CHAT) draftSharedText();
      putBack(draftOf(conversationId));
    }
    restored.current = true;
    return () => {
      // Files that are still on their way arrive in the draft.
      for (const arriving of uploads.arriving(latest.current)) {
        void arriving.then((part) => {
          if (part) keepDraft(conversationId, [...draftOf(conversationId), part]);
        });
      }
    };
  }, [conversationId, putBack, uploads]);
  return null;
}

/** Puts the text and files of a message into the composer, where they can be sent again. */
export function usePutBack(): (parts: Part[]) => void {
  const composing = useComposing();
  return useCallback(
    (parts) => {
      const text = textOfParts(parts);
      if (text) composing.setText(text);
      for (const file of parts.map(asAttachment)) if (file) composing.put(file);
    },
    [composing],
  );
}
