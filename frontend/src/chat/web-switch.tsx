import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Globe } from "lucide-react";
import { useCallback, useRef, useState } from "react";
import { patchConversation } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import { getMyTools } from "@/api/tools";
import type { Conversation, Model } from "@/api/types";
import { cn } from "@/lib/cn";
import { iconButtonClass } from "@/ui/icon-button";
import { toast } from "@/ui/toast";
import { Tip } from "@/ui/tooltip";
import { changeShown, myToolsKey } from "./cache";

export interface WebSwitch {
  value: boolean;
  onChange: (value: boolean) => void;
}

/**
 * Whether this chat's model may search the web: `web` is null where nobody may, or the model calls
 * no tools. `ofNewChat` waits for the first message; `stored` resolves when the server knows.
 */
export function useWebOf(
  id: string | undefined,
  conversation: Conversation | undefined,
  model: Model | undefined,
) {
  const client = useQueryClient();
  const [ofNewChat, setOfNewChat] = useState(false);
  const patched = useRef<Promise<void>>(Promise.resolve());
  const stored = useCallback(() => patched.current, []);
  const tools = useQuery({ queryKey: myToolsKey, queryFn: getMyTools, staleTime: 60_000 });
  const onChange = (value: boolean) => {
    if (!id) return setOfNewChat(value);
    const shown = changeShown(client, id, { web_search: value }, (row) => row);
    // One after the other: the last that was chosen is the last that is stored.
    patched.current = patched.current.then(async () => {
      try {
        await patchConversation(id, { web_search: value });
      } catch (error) {
        (await shown)();
        toast(errorMessage(error));
      }
    });
  };
  const offered = tools.data?.web_search === true && model?.capabilities.includes("tools") === true;
  const value = id ? (conversation?.web_search ?? false) : ofNewChat;
  const web: WebSwitch | null = offered ? { value, onChange } : null;
  return { web, ofNewChat: offered && ofNewChat, stored };
}

/** Lets the model search the web, or not; that it does is written beside the globe. */
export function WebSwitchButton({ value, onChange }: WebSwitch) {
  return (
    <Tip label={t`Search the web`}>
      <button
        type="button"
        aria-label={t`Search the web`}
        aria-pressed={value}
        onClick={() => onChange(!value)}
        className={cn(
          iconButtonClass,
          "h-9 w-auto min-w-9 gap-1.5 rounded-full px-2 font-medium text-foreground text-sm",
          "aria-pressed:bg-brand/8 aria-pressed:text-brand pointer-coarse:h-10 pointer-coarse:w-auto pointer-coarse:min-w-10",
        )}
      >
        <Globe aria-hidden className="size-4.5 shrink-0" />
        {value && (
          <span className="pe-1 max-sm:sr-only">
            <Trans context="the web">Search</Trans>
          </span>
        )}
      </button>
    </Tip>
  );
}
