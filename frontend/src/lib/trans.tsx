/** What the macro `<Trans>` becomes (lingui.config.ts): a message with elements in it. */
import { i18n } from "@lingui/core";
import type { TransProps } from "@lingui/react";
import { TransNoContext } from "@lingui/react/server";

// No provider: the page is loaded anew when its language changes.
const lingui = { i18n };

export const Trans = (props: TransProps) => <TransNoContext {...props} lingui={lingui} />;
