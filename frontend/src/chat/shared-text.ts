/** Text that another app has shared with this one (service-worker.js), from the address. */
import { draftOf, keepDraft, NEW_CHAT } from "./drafts";
import { textOfParts } from "./parts";

const MARK = "#shared=";

/** Puts it below the draft of a new chat. It is never sent by itself: anybody can write a link. */
export function draftSharedText(): void {
  const { hash, pathname, search } = window.location;
  if (!hash.startsWith(MARK)) return;
  window.history.replaceState(window.history.state, "", pathname + search);
  const text = decoded(hash.slice(MARK.length)).trim();
  if (!text) return;
  const draft = draftOf(NEW_CHAT);
  const written = [textOfParts(draft), text].filter(Boolean).join("\n");
  keepDraft(NEW_CHAT, [{ type: "text", text: written }, ...draft.filter(isFile)]);
}

const isFile = ({ type }: { type: string }): boolean => type !== "text";

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
