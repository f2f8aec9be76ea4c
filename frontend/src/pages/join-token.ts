/** The invitation that was opened here, kept until it is used: signing up takes another tab. */
import { readStored, writeStored } from "@/lib/storage";

const KEY = "parley.invitation";
const MAX_AGE_MS = 86_400_000;

export function storeInvitation(token: string): void {
  writeStored(KEY, JSON.stringify({ token, at: Date.now() }));
}

export function forgetInvitation(): void {
  writeStored(KEY, "");
}

export function storedInvitation(): string | null {
  try {
    const { token, at } = JSON.parse(readStored(KEY) ?? "{}");
    return typeof token === "string" && Date.now() - at < MAX_AGE_MS ? token : null;
  } catch {
    return null;
  }
}
