/** Finds conversations by their words, from anywhere (Ctrl/⌘+K). */

import { Dialog } from "@base-ui/react/dialog";
import { t } from "@lingui/core/macro";
import { MessageSquare, Search, SquarePen } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useDeferredValue, useState } from "react";
import { useNavigate } from "react-router";
import { errorMessage } from "@/api/errors";
import type { ConversationSummary, FoundConversation } from "@/api/types";
import { useLayout } from "@/app/layout-state";
import { cn } from "@/lib/cn";
import { dateGroup } from "@/lib/time";
import { backdropClass } from "@/ui/dialog-window";
import { Spinner } from "@/ui/spinner";
import { useConversations, useSearch, useWhenSeen } from "./use-conversations";

export function SearchDialog() {
  const { searchOpen, setSearch } = useLayout();
  return (
    <Dialog.Root open={searchOpen} onOpenChange={setSearch}>
      <Dialog.Portal>
        <Dialog.Backdrop className={backdropClass} />
        <Dialog.Popup
          aria-label={t`Search chats`}
          className="fixed inset-x-0 top-[12dvh] z-50 mx-auto flex max-h-[70dvh] w-[calc(100vw-1.5rem)] max-w-2xl flex-col overflow-hidden rounded-2xl border border-border bg-popover text-popover-foreground shadow-2xl outline-none transition duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0"
        >
          <SearchPanel close={() => setSearch(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface Option {
  to: string;
  icon: ReactNode;
  title: string;
  note: string;
  excerpt?: FoundConversation["excerpt"];
}

const newChat = (): Option => ({
  to: "/",
  icon: <SquarePen aria-hidden className="size-4.5 shrink-0" />,
  title: t`New chat`,
  note: "",
});

const optionId = (index: number) => `search-option-${index}`;

function SearchPanel({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const [words, setWords] = useState("");
  const [active, setActive] = useState(0);
  const search = useDeferredValue(words.trim());
  const list = useConversations({ archived: false });
  const results = useSearch(search);
  const { rows, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const end = useWhenSeen(() => void fetchNextPage(), hasNextPage && !isFetchingNextPage);
  const now = new Date();
  const optionOf = (row: ConversationSummary): Option => ({
    to: `/c/${row.id}`,
    icon: <MessageSquare aria-hidden className="size-4.5 shrink-0" />,
    title: row.title || t`New chat`,
    note: dateGroup(row.updated_at, now),
  });
  const found = (results.data?.data ?? []).map(({ conversation, excerpt }) => ({
    ...optionOf(conversation),
    excerpt,
  }));
  const options = search ? found : [newChat(), ...rows.map(optionOf)];
  const isOfWords = search === words.trim() && (!search || !results.isPlaceholderData);

  const open = (option: Option | undefined) => {
    if (!option) return;
    close();
    void navigate(option.to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const last = options.length - 1;
    const next = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: last }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      const index = Math.max(0, Math.min(next, last));
      setActive(index);
      document.getElementById(optionId(index))?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      // Until then Enter would open what other words have found, or a new chat.
      if (isOfWords) open(options[active]);
    }
  };

  return (
    <>
      <div className="flex items-center gap-3 border-border border-b px-5">
        {list.isFetching || results.isFetching ? (
          <Spinner className="shrink-0 text-muted-foreground" />
        ) : (
          <Search aria-hidden className="size-4 shrink-0 text-muted-foreground" />
        )}
        <input
          role="combobox"
          aria-label={t`Search chats`}
          aria-expanded="true"
          aria-controls="search-options"
          aria-activedescendant={options.length > 0 ? optionId(active) : undefined}
          autoComplete="off"
          placeholder={t`Search chats`}
          dir="auto"
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
          className="h-14 w-full bg-transparent text-base outline-none placeholder:text-muted-foreground"
        />
      </div>
      <div className="scrollbar-quiet overflow-y-auto p-2">
        <div id="search-options" role="listbox" aria-label={t`Chats`}>
          {options.map((option, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox has the keys
            <div
              key={option.to}
              id={optionId(index)}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              onClick={() => open(option)}
              onPointerMove={() => setActive(index)}
              className={cn(
                "flex cursor-pointer items-center gap-3 rounded-xl px-3 py-2.5 text-sm",
                index === active && "bg-hover",
              )}
            >
              {option.icon}
              <span className="flex min-w-0 flex-1 flex-col gap-0.5">
                <span dir="auto" className="truncate">
                  {option.title}
                </span>
                {option.excerpt && option.excerpt.length > 0 && <Excerpt parts={option.excerpt} />}
              </span>
              <span className="shrink-0 text-muted-foreground text-xs">{option.note}</span>
            </div>
          ))}
        </div>
        {search && !results.isPending && found.length === 0 && (
          <p role="status" className="px-3 py-8 text-center text-muted-foreground text-sm">
            {results.isError ? errorMessage(results.error) : t`No chat has “${search}” in it.`}
          </p>
        )}
        {!search && <div ref={end} className="h-px" />}
      </div>
    </>
  );
}

/** The place in a message that was found. */
function Excerpt({ parts }: { parts: FoundConversation["excerpt"] }) {
  return (
    <span dir="auto" className="line-clamp-2 text-muted-foreground text-xs leading-5">
      {parts.map((part, index) =>
        part.hit ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its position
          <mark key={index} className="bg-transparent font-semibold text-foreground">
            {part.text}
          </mark>
        ) : (
          part.text
        ),
      )}
    </span>
  );
}
