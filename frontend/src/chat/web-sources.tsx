import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Globe } from "lucide-react";
import { useState } from "react";
import { useParams } from "react-router";
import { listToolCalls } from "@/api/tools";
import { toolCallsKey } from "./cache";
import { webSources } from "./web-calls";

/** So many are shown at first; a search finds up to eight, and there may be several. */
const SHOWN = 6;

/**
 * The pages of the web that an answer was written from, of the calls `readFrom`. Their titles are
 * theirs: text, whatever they say, with the host beside it.
 */
export function WebSources({ readFrom }: { readFrom: string }) {
  const { id = "" } = useParams();
  const [all, setAll] = useState(false);
  const { data } = useQuery({
    queryKey: toolCallsKey(id),
    queryFn: () => listToolCalls(id),
    enabled: id !== "",
  });
  const ids = new Set(readFrom.split(" "));
  const sources = webSources((data?.data ?? []).filter((call) => ids.has(call.call_id)));
  if (sources.length === 0) return null;
  return (
    <section aria-label={t`Pages of the web`} className="mt-2 flex flex-col gap-1.5 text-xs">
      <span className="text-muted-foreground">
        <Trans>Sources</Trans>
      </span>
      <ul className="flex flex-wrap gap-1.5">
        {(all ? sources : sources.slice(0, SHOWN)).map(({ title, url, host }) => (
          <li key={url} className="max-w-full">
            <a
              href={url}
              target="_blank"
              rel="noopener noreferrer nofollow"
              title={url}
              className="flex min-h-6 max-w-full items-center gap-1.5 rounded-full border border-border px-2.5 py-1 hover:bg-bubble sm:max-w-80"
            >
              <Globe aria-hidden className="size-3 shrink-0" />
              <bdi className="min-w-0 truncate">{title}</bdi>
              <bdi className="max-w-56 shrink-0 break-all text-muted-foreground">{host}</bdi>
              <span className="sr-only">
                <Trans>(opens in a new tab)</Trans>
              </span>
            </a>
          </li>
        ))}
      </ul>
      {!all && sources.length > SHOWN && (
        <button
          type="button"
          onClick={() => setAll(true)}
          className="min-h-6 self-start px-1 text-muted-foreground underline underline-offset-2"
        >
          <Plural value={sources.length} one="all # page" other="all # pages" />
        </button>
      )}
    </section>
  );
}
