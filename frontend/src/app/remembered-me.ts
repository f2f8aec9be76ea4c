/**
 * Who was signed in last, for a page that is opened without a connection: it shows their drafts
 * and takes messages for later. It proves nothing to the server; sign-out removes it.
 */
import type { Me } from "@/api/types";
import { readStored, removeStored, writeStored } from "@/lib/storage";

const KEY = "parley.me";

/** A machine that was offline for longer shows nobody's name. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

export const rememberMe = (me: Me): void =>
  writeStored(KEY, JSON.stringify({ me, at: Date.now() }));

export const forgetMe = (): void => removeStored(KEY);

export function rememberedMe(): Me | null {
  try {
    const { me, at } = JSON.parse(readStored(KEY) ?? "{}") as { me?: Me; at?: number };
    return me && at && Date.now() - at < KEPT_MS ? me : null;
  } catch {
    return null;
  }
}
