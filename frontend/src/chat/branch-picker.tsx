import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { IconButton } from "@/ui/icon-button";
import { useThreadActions } from "./thread-actions";
import type { ViewMessage } from "./view";

/**
 * ‹ 2/3 ›: the other versions of a message; nothing where there is only one. Off while an answer is
 * on its way, which would be shown below the wrong version.
 */
export function BranchPicker({ message }: { message: ViewMessage }) {
  const { running, switchBranch } = useThreadActions();
  const { siblings } = message;
  const position = siblings.indexOf(message.id);
  if (siblings.length < 2 || position === -1) return null;
  const number = position + 1;
  const count = siblings.length;
  const go = (step: number) => {
    const target = siblings[position + step];
    if (target) switchBranch(target);
  };
  return (
    <div className="flex items-center text-muted-foreground text-xs">
      <IconButton
        label={t`Previous version`}
        className="size-7"
        disabled={running || position === 0}
        onClick={() => go(-1)}
      >
        <ChevronLeft className="size-4 rtl:-scale-x-100" />
      </IconButton>
      <span className="tabular-nums">
        <Trans>
          <span className="sr-only">Version </span>
          {number}/{count}
        </Trans>
      </span>
      <IconButton
        label={t`Next version`}
        className="size-7"
        disabled={running || position === siblings.length - 1}
        onClick={() => go(1)}
      >
        <ChevronRight className="size-4 rtl:-scale-x-100" />
      </IconButton>
    </div>
  );
}
