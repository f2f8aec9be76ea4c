/** The keys of the page: a list for the settings, and a sheet that Ctrl+/ opens anywhere. */
import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useCallback } from "react";
import { Link } from "react-router";
import { hotkeyLabel, useHotkey } from "@/lib/hotkeys";
import { Dialog } from "@/ui/dialog";
import { useLayout } from "./layout-state";

const shortcuts = (): [string, MessageDescriptor][] => [
  [hotkeyLabel("mod+k"), msg`Search chats`],
  [hotkeyLabel("mod+shift+o"), msg`New chat`],
  ["/", msg`Choose a prompt, in an empty message`],
  ["Enter", msg`Send the message`],
  [hotkeyLabel("mod+enter"), msg`Stop the answer, and send the message now`],
  ["Shift+Enter", msg`New line`],
  ["Esc", msg`Stop the answer`],
  [hotkeyLabel("mod+/"), msg`Show these keys`],
];

export function ShortcutList() {
  return (
    <dl className="grid max-w-md grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2.5 text-sm">
      {shortcuts().map(([keys, what]) => (
        <div key={keys} className="contents">
          <dt>
            <kbd
              dir="ltr"
              className="rounded-md border border-border bg-muted px-2 py-1 font-sans text-xs"
            >
              {keys}
            </kbd>
          </dt>
          <dd className="text-muted-foreground">{i18n._(what)}</dd>
        </div>
      ))}
    </dl>
  );
}

export function ShortcutsSheet() {
  const { shortcutsOpen, setShortcuts } = useLayout();
  const toggle = useCallback(() => {
    const { shortcutsOpen: open, setShortcuts: set } = useLayout.getState();
    set(!open);
  }, []);
  useHotkey("mod+/", toggle);
  return (
    <Dialog open={shortcutsOpen} onOpenChange={setShortcuts} title={t`Keyboard shortcuts`}>
      <ShortcutList />
      <Link
        to="/help"
        onClick={() => setShortcuts(false)}
        className="mt-4 inline-block text-sm underline underline-offset-4"
      >
        <Trans>Where to look when something fails</Trans>
      </Link>
    </Dialog>
  );
}
