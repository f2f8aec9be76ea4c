/**
 * Messages that wait for the connection, oldest first: one list for all tabs of this browser, in
 * IndexedDB, whose transactions let two tabs change it at once. Where a browser has none, the list
 * lives as long as the page. What sends them: outbox.ts.
 */
import { createStore, get, set, type UseStore, update } from "idb-keyval";
import { create } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { ConversationPatch } from "@/api/conversations";
import type { Me, Part } from "@/api/types";
import { NEW_CHAT } from "./drafts";

export interface HeldMessage {
  /** Its `Idempotency-Key`; it is known by it here too. */
  key: string;
  /** The user and the organization that they work in. */
  account: string;
  /** The conversation's id, or the place of a chat that is none yet (`placeOf`). */
  chat: string;
  parts: Part[];
  model: string;
  /** When it was written, ISO 8601. */
  at: string;
  /** What to make of it first: a conversation. */
  begins: { projectId: string | null; assistantId: string | null } | null;
  /** What to store of the conversation before its first message. */
  first: ConversationPatch | null;
  /** The request that perhaps came through, at `at` in ms: under the same key it must be the same. */
  tried: { parentId: string | null; at: number } | null;
  /** Why it was not taken, in words; it waits for its reader then, and is not sent by itself. */
  refusal: string | null;
}

interface Outbox {
  /** Null: nobody is signed in, or it is not known yet. */
  account: string | null;
  messages: HeldMessage[];
}

const LIST = "held";
const NONE: HeldMessage[] = [];
/** Each change, told to the other tabs: they see every step, such as a chat that begins. */
const CHANNEL = "parley.outbox";

export const useOutbox = create<Outbox>(() => ({ account: null, messages: NONE }));

/** Where the messages of a new chat wait, by the assistant that it is with. */
export const placeOf = (assistantId: string | null | undefined): string =>
  assistantId ? `${NEW_CHAT}/${assistantId}` : NEW_CHAT;

/** Those of `chat` that are to be shown: all but the one that is on its way under `sending`. */
export const useHeld = (chat: string, sending: string | undefined): HeldMessage[] =>
  useOutbox(
    useShallow(({ account, messages }) =>
      messages.filter(
        (held) => held.account === account && held.chat === chat && held.key !== sending,
      ),
    ),
  );

export const isWaiting = (held: HeldMessage): boolean =>
  held.account === useOutbox.getState().account && held.refusal === null;

/** Whether what is sent to `chat` now has others before it. */
export const hasWaiting = (chat: string): boolean =>
  useOutbox.getState().messages.some((held) => held.chat === chat && isWaiting(held));

/** Keeps a message of the account; resolves when it is stored. */
export function hold(message: Omit<HeldMessage, "account" | "at" | "refusal">): Promise<void> {
  const { account } = useOutbox.getState();
  if (!account) return Promise.reject(new Error("nobody is signed in"));
  const held = { ...message, account, at: new Date().toISOString(), refusal: null };
  return change((all) => [...all.filter(({ key }) => key !== held.key), held]);
}

export const drop = (key: string): Promise<void> =>
  change((all) => all.filter((held) => held.key !== key));

/** Patches each message that `patch` returns something for. */
export const patchHeld = (
  patch: (held: HeldMessage) => Partial<HeldMessage> | null,
): Promise<void> => change((all) => all.map((held) => ({ ...held, ...patch(held) })));

/** The list as it is stored now, shown here from now on. */
export async function readOutbox(): Promise<HeldMessage[]> {
  try {
    useOutbox.setState({ messages: (await get<HeldMessage[]>(LIST, stored())) ?? NONE });
  } catch {
    // Blocked: what the page holds is all there is.
  }
  return useOutbox.getState().messages;
}

/** Makes the list `me`'s: another user's messages are gone. */
export function claimOutbox(me: Me): void {
  const account = accountOf(me);
  if (useOutbox.getState().account === account) return;
  useOutbox.setState({ account });
  void change((all) => all.filter((held) => held.account.startsWith(`${me.user.id} `)));
}

/** What this page shows of it goes with the shell: see `followOutbox`. */
export async function forgetOutbox(): Promise<void> {
  told?.postMessage(NONE);
  try {
    await set(LIST, NONE, stored());
  } catch {
    // Blocked: nothing was kept.
  }
}

const accountOf = ({ user, organization }: Me): string => `${user.id} ${organization.id}`;

/** Shows the list now, and whenever another tab has changed it, until the returned call. */
export function followOutbox(): () => void {
  const hide = () => useOutbox.setState({ messages: NONE });
  if (!("BroadcastChannel" in window)) {
    void readOutbox();
    return hide;
  }
  const heard = new BroadcastChannel(CHANNEL);
  heard.onmessage = ({ data }: MessageEvent<HeldMessage[]>) => {
    useOutbox.setState({ messages: data });
    void readOutbox(); // which another change may have overtaken
  };
  told = heard;
  void readOutbox();
  return () => {
    heard.close();
    if (told === heard) told = null;
    hide();
  };
}

let told: BroadcastChannel | null = null;
let store: UseStore | null = null;

function stored(): UseStore {
  store ??= createStore("parley.outbox", "messages");
  return store;
}

async function change(next: (all: HeldMessage[]) => HeldMessage[]): Promise<void> {
  let messages = NONE;
  try {
    await update<HeldMessage[]>(
      LIST,
      (all = NONE) => {
        messages = next(all);
        return messages;
      },
      stored(),
    );
  } catch {
    messages = next(useOutbox.getState().messages);
  }
  useOutbox.setState({ messages });
  told?.postMessage(messages);
}
