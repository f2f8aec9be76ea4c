import { t } from "@lingui/core/macro";
import { useEffect } from "react";

/** `mod` is ⌘ on a Mac and Ctrl elsewhere; names as in KeyboardEvent.key, lower case. */
export type Hotkey = `mod+${string}` | `mod+shift+${string}` | "escape" | "mod+/";

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Runs `action` on `hotkey` anywhere on the page, except where the event was already used. */
export function useHotkey(hotkey: Hotkey, action: () => void, enabled = true): void {
  useEffect(() => {
    if (!enabled) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || !matches(event, hotkey)) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [hotkey, action, enabled]);
}

function matches(event: KeyboardEvent, hotkey: Hotkey): boolean {
  const parts = hotkey.split("+");
  const mod = isMac ? event.metaKey : event.ctrlKey;
  return (
    event.key.toLowerCase() === parts.at(-1) &&
    mod === parts.includes("mod") &&
    event.shiftKey === parts.includes("shift") &&
    !event.altKey
  );
}

/** How a hotkey is written on this system: `⌘K` or `Ctrl+K`. */
export function hotkeyLabel(hotkey: Hotkey): string {
  const parts = hotkey.split("+").map((part) => {
    if (part === "mod") return isMac ? "⌘" : t({ message: "Ctrl", context: "key of a keyboard" });
    if (part === "shift")
      return isMac ? "⇧" : t({ message: "Shift", context: "key of a keyboard" });
    return part.length === 1 ? part.toUpperCase() : part.charAt(0).toUpperCase() + part.slice(1);
  });
  return parts.join(isMac ? "" : "+");
}
