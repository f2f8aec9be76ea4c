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
          <button type="button" aria-label="More about this answer" className={iconButtonClass}>
            <Ellipsis aria-hidden className="size-4" />
          </button>
        }
      >
        {others.map((other) => (
          <MenuItem
            key={other.id}
            icon={<RefreshCw aria-hidden />}
            disabled={running}
            onSelect={() => regenerate(message, other.id)}
          >
            Regenerate with {other.name}
          </MenuItem>
        ))}
        <MenuItem icon={<ScrollText aria-hidden />} onSelect={() => setSent(true)}>
          What was sent
        </MenuItem>
      </Menu>
      <SentDialog messageId={message.id} open={sent} onOpenChange={setSent} />
    </>
  );
}
