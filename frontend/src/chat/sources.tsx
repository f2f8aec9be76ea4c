import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import { getSources } from "@/api/conversations";
import type { Source } from "@/api/types";
import { CitationContext } from "@/markdown/citations";
import { Dialog } from "@/ui/dialog";

/** So many cited places are shown at first, */
const CITED = 6;
/** and so many where none is cited: an answer may have been given dozens, the best stand first. */
const READ = 3;

const placeClass = "max-h-[50dvh] overflow-y-auto whitespace-pre-wrap break-words leading-6";

interface Shown {
  /** In the order of their numbers. */
  sources: Source[];
  open: (source: Source) => void;
}

const SourcesContext = createContext<Shown>({ sources: [], open: () => {} });

interface AnswerSourcesProps {
  messageId: string;
  /** The answer is stored, and was given files to read. */
  enabled: boolean;
  children: ReactNode;
}

/** Knows what an answer was written from, for the citations and the list within; one of them opens
 * the text that stands there. */
export function AnswerSources({ messageId, enabled, children }: AnswerSourcesProps) {
  const [shown, setShown] = useState<Source | null>(null);
  const { data } = useQuery({
    queryKey: ["sources", messageId],
    queryFn: () => getSources(messageId),
    staleTime: Number.POSITIVE_INFINITY,
    enabled,
  });
  const sources = data?.data;
  const known = useMemo(() => ({ sources: sources ?? [], open: setShown }), [sources]);
  const citations = useMemo(
    () => (said: string) =>
      (sources ?? []).flatMap((source, index) =>
        source.cited_as.includes(said)
          ? [{ number: index + 1, name: named(source), open: () => setShown(source) }]
          : [],
      ),
    [sources],
  );
  return (
    <SourcesContext value={known}>
      <CitationContext value={sources ? citations : null}>{children}</CitationContext>
      <Dialog
        open={shown !== null}
        onOpenChange={(open) => !open && setShown(null)}
        title={shown ? named(shown) : ""}
        description={t`What stands at this place of the file.`}
        className="max-w-2xl"
      >
        {shown && <PlaceOf source={shown} />}
      </Dialog>
    </SourcesContext>
  );
}

function PlaceOf({ source }: { source: Source }) {
  return (
    <div className="flex flex-col gap-4 text-sm">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard */}
      <p dir="auto" className={placeClass} tabIndex={0}>
        {source.text}
      </p>
      <a
        href={`/api/attachments/${source.attachment_id}`}
        className="self-start underline underline-offset-2"
      >
        <Trans>Save the file</Trans>
      </a>
    </div>
  );
}

/** The places in attached files that an answer cites, else the best of those that it was given;
 * the rest folded. Nothing where no file was read. */
export function SourceList() {
  const [all, setAll] = useState(false);
  const { sources, open } = useContext(SourcesContext);
  if (sources.length === 0) return null;
  const cited = sources.filter((source) => source.cited).length;
  const atFirst = cited > 0 ? Math.min(cited, CITED) : READ;
  const listed = all ? sources : sources.slice(0, atFirst);
  return (
    <section aria-label={t`Sources`} className="mt-2 flex flex-wrap items-center gap-1.5 text-xs">
      <span className="text-muted-foreground">
        {cited > 0
          ? t({ message: "Cited", context: "of sources" })
          : t({ message: "Read", context: "of sources" })}
      </span>
      {listed.map((source, index) => (
        <button
          key={`${source.attachment_id} ${source.place} ${source.text.slice(0, 40)}`}
          type="button"
          onClick={() => open(source)}
          className="flex min-h-6 max-w-full items-center gap-1 rounded-full border border-border px-2.5 py-1 hover:bg-bubble"
        >
          {source.cited ? (
            <span aria-hidden className="text-muted-foreground">
              {index + 1}
            </span>
          ) : (
            <FileText aria-hidden className="size-3 shrink-0" />
          )}
          <span dir="auto" className="truncate">
            {named(source)}
          </span>
        </button>
      ))}
      {sources.length > atFirst && (
        <button
          type="button"
          aria-expanded={all}
          onClick={() => setAll(!all)}
          className="min-h-6 px-1 text-muted-foreground underline underline-offset-2"
        >
          {all ? (
            <Trans>Show fewer</Trans>
          ) : (
            <Plural value={sources.length} one="all # place read" other="all # places read" />
          )}
        </button>
      )}
    </section>
  );
}

function named({ filename, place }: Source): string {
  return place ? `${filename}, ${place}` : filename;
}
