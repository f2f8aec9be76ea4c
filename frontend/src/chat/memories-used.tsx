import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { ChevronRight } from "lucide-react";
import { Link } from "react-router";
import type { Message } from "@/api/types";

/** Under an answer: what of the reader's memory it was given. */
export function MemoriesUsed({ memories }: { memories: Message["memories"] }) {
  if (memories.length === 0) return null;
  return (
    <details className="group/memory mt-2 text-muted-foreground text-xs">
      <summary className="flex w-fit cursor-pointer list-none items-center gap-1 rounded-md py-1 hover:text-foreground">
        <ChevronRight
          aria-hidden
          className="size-3.5 transition-transform group-open/memory:rotate-90 rtl:-scale-x-100 rtl:group-open/memory:-rotate-90"
        />
        <Plural value={memories.length} one="# memory used" other="# memories used" />
      </summary>
      <ul className="flex list-disc flex-col gap-1 py-1 ps-8">
        {memories.map(({ id, text }) => (
          <li key={id} dir="auto">
            {text ?? t`One that has been forgotten`}
          </li>
        ))}
      </ul>
      <Link to="/settings/memory" className="ms-4.5 underline hover:text-foreground">
        <Trans>Manage memory</Trans>
      </Link>
    </details>
  );
}
