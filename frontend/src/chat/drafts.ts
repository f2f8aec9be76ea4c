/**
 * What is written and not sent yet, by conversation: it outlives navigations and reloads in this
 * tab, and a session that ended, for as long as the same user comes back. A new tab begins with
 * what was written last, so that an app that was closed finds it again, also without a connection.
 */
import type { Part } from "@/api/types";
import { readStored, readTabStored, writeStored, writeTabStored } from "@/lib/storage";

const KEY = "parley.drafts";

/** The draft of a chat that is no conversation yet. */
export const NEW_CHAT = "new";

interface Drafts {
  /** Whose they are; null while that is not known. */
  owner: string | null;
  parts: Record<string, Part[]>;
}

const NONE: Drafts = { owner: null, parts: {} };

let drafts: Drafts | null = null;

function all(): Drafts {
  drafts ??= parse(readTabStored(KEY) ?? readStored(KEY));
  return drafts;
}

function parse(stored: string | null): Drafts {
  try {
    return stored ? { ...NONE, ...JSON.parse(stored) } : NONE;
  } catch {
    return NONE;
  }
}

function store(next: Drafts): void {
  drafts = next;
  const text = JSON.stringify(next);
  writeTabStored(KEY, text);
  writeStored(KEY, text);
}

export const draftOf = (conversationId: string): Part[] => all().parts[conversationId] ?? [];

/** Keeps `parts` in place of what was there; none of them: the draft is gone. */
export function keepDraft(conversationId: string, parts: Part[]): void {
  const { [conversationId]: _, ...others } = all().parts;
  store({ ...all(), parts: parts.length > 0 ? { ...others, [conversationId]: parts } : others });
}

/** Makes them `userId`'s; false when they were another user's, and are gone now. */
export function claimDrafts(userId: string): boolean {
  const { owner } = all();
  if (owner === userId) return true;
  const theirs = owner === null;
  store(theirs ? { ...all(), owner: userId } : { ...NONE, owner: userId });
  return theirs;
}

export const forgetDrafts = (): void => store(NONE);
