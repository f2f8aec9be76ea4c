import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Ellipsis, RefreshCw, ScrollText } from "lucide-react";
import { useState } from "react";
import { iconButtonClass } from "@/ui/icon-button";
import { Menu, MenuItem } from "@/ui/menu";
import { chatModels } from "./model-picker";
import { useModelList } from "./queries";
import { SentDialog } from "./sent-dialog";
import { useThreadActions } from "./thread-actions";
import type { ViewMessage } from "./view";

/** What is seldom done with an answer. */
export function AnswerMenu({ message }: { message: ViewMessage }) {
  const [sent, setSent] = useState(false);
  const { regenerate, running } = useThreadActions();
  const others = chatModels(useModelList().data).filter(({ id }) => id !== message.model);
  return (
    <>
      <Menu
        trigger={
          <button type="button" aria-label={t`More about this answer`} className={iconButtonClass}>
            <Ellipsis aria-hidden className="size-4" />
          </button>
        }
      >
        {others.map(({ id, name }) => (
          <MenuItem
            key={id}
            icon={<RefreshCw aria-hidden />}
            disabled={running}
            onSelect={() => regenerate(message, id)}
          >
            <Trans>Regenerate with {name}</Trans>
          </MenuItem>
        ))}
        <MenuItem icon={<ScrollText aria-hidden />} onSelect={() => setSent(true)}>
          <Trans>What was sent</Trans>
        </MenuItem>
      </Menu>
      <SentDialog messageId={message.id} open={sent} onOpenChange={setSent} />
    </>
  );
}
