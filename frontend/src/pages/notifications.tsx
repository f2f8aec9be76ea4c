import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { useState } from "react";
import {
  type NotificationState,
  notificationState,
  switchNotifications,
} from "@/app/notifications";
import { useMe } from "@/app/session";
import { Checkbox } from "@/ui/checkbox";
import { Section } from "./page-layout";

const HINTS: Record<NotificationState, MessageDescriptor> = {
  on: msg`In this browser, while Parley is open and out of sight.`,
  off: msg`In this browser, while Parley is open and out of sight. The chat's title is shown.`,
  refused: msg`This browser refuses notifications from Parley. Allow them in its settings for this site, then load this page again.`,
  missing: msg`This browser has no notifications for Parley. On a phone, install it first.`,
};

export function NotificationsSection() {
  const me = useMe();
  const [state, setState] = useState(() => notificationState(me.user.id));
  return (
    <Section title={t`Notifications`}>
      <Checkbox
        label={t`Notify me when a long answer is done`}
        hint={t(HINTS[state])}
        checked={state === "on"}
        disabled={state === "refused" || state === "missing"}
        onChange={(on) => void switchNotifications(me.user.id, on).then(setState)}
      />
    </Section>
  );
}
