/** The list above the composer while its message begins with "/": chosen by arrows and Enter or by a
 * click, closed by Escape. The focus stays in the message. */
import { t } from "@lingui/core/macro";
import { type KeyboardEvent, useId, useState } from "react";
import { cn } from "@/lib/cn";
import { useComposing, useComposingState } from "./composing";
import { type SlashPrompt, slashQuery, useSlashPrompts } from "./slash-prompts";

export interface SlashMenu {
  prompts: SlashPrompt[];
  active: number;
  listId: string;
  optionId: (index: number) => string;
  take: (prompt: SlashPrompt) => void;
  /** Of the message; true where the key was for the menu. */
  onKey: (event: KeyboardEvent) => boolean;
}

export function useSlashMenu(): SlashMenu {
  const composing = useComposing();
  const text = useComposingState((state) => state.text);
  const listId = useId();
  const [closedFor, setClosedFor] = useState<string | null>(null);
  const [at, setAt] = useState({ text: "", index: 0 });
  const found = useSlashPrompts(text === closedFor ? null : slashQuery(text));
  // Of another text the first one is active again.
  const active = at.text === text ? Math.min(at.index, found.length - 1) : 0;
  const take = ({ prompt }: SlashPrompt) => composing.setText(prompt);
  const onKey = (event: KeyboardEvent): boolean => {
    if (found.length === 0 || event.nativeEvent.isComposing) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = found[active];
    if (step) setAt({ text, index: (active + step + found.length) % found.length });
    else if (event.key === "Escape") setClosedFor(text);
    else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && chosen)
      take(chosen);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const optionId = (index: number) => `${listId}-${index}`;
  return { prompts: found, active, listId, optionId, take, onKey };
}

export function SlashList({ prompts, active, listId, optionId, take }: SlashMenu) {
  if (prompts.length === 0) return null;
  return (
    <div
      role="listbox"
      id={listId}
      aria-label={t`Prompts`}
      className="absolute inset-x-0 bottom-full z-20 mb-2 max-h-[40dvh] overflow-y-auto rounded-2xl border border-border bg-popover p-1.5 text-popover-foreground shadow-composer"
    >
      {prompts.map((one, index) => (
        <button
          key={`${one.from} ${one.prompt}`}
          type="button"
          role="option"
          tabIndex={-1}
          id={optionId(index)}
          aria-selected={index === active}
          // The focus stays where it is.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => take(one)}
          className={cn(
            "flex min-h-10 w-full cursor-pointer items-center gap-3 rounded-xl px-3 py-2 text-start text-sm hover:bg-hover",
            index === active && "bg-hover",
          )}
        >
          <span dir="auto" className="min-w-0 flex-1 truncate">
            {one.label}
          </span>
          {one.from && (
            <span
              dir="auto"
              className="max-w-[40%] shrink-0 truncate text-muted-foreground text-xs"
            >
              {one.from}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
