import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { useState } from "react";
import { getSources } from "@/api/conversations";
import type { Source } from "@/api/types";
import { Dialog } from "@/ui/dialog";
import type { ViewMessage } from "./view";

/** So many are shown at first; an answer that cites nothing may have been given dozens. */
const SHOWN = 6;

/**
 * What an answer was written from: the places in attached files, those it cites first. One opens
 * the text that stands there. Nothing where no file was read.
 */
export function Sources({ message }: { message: ViewMessage }) {
  const [all, setAll] = useState(false);
  const [shown, setShown] = useState<Source | null>(null);
  const query = useQuery({
    queryKey: ["sources", message.id],
    queryFn: () => getSources(message.id),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const sources = query.data?.data ?? [];
  if (sources.length === 0) return null;
  const cited = sources.filter((source) => source.cited);
  const listed = all ? sources : (cited.length > 0 ? cited : sources).slice(0, SHOWN);
  return (
    <section aria-label={t`Sources`} className="mt-2 flex flex-wrap items-center gap-1.5 text-xs">
      <span className="text-muted-foreground">
        {cited.length > 0
          ? t({ message: "Cited", context: "of sources" })
          : t({ message: "Read", context: "of sources" })}
      </span>
      {listed.map((source) => (
        <button
          key={`${source.attachment_id} ${source.place} ${source.text.slice(0, 40)}`}
          type="button"
          onClick={() => setShown(source)}
          className="flex min-h-6 max-w-full items-center gap-1 rounded-full border border-border px-2.5 py-1 hover:bg-bubble"
        >
          <FileText aria-hidden className="size-3 shrink-0" />
          <span dir="auto" className="truncate">
            {named(source)}
          </span>
        </button>
      ))}
      {listed.length < sources.length && (
        <button
          type="button"
          onClick={() => setAll(true)}
          className="min-h-6 px-1 text-muted-foreground underline underline-offset-2"
        >
          <Plural value={sources.length} one="all # place read" other="all # places read" />
        </button>
      )}
      <Dialog
        open={shown !== null}
        onOpenChange={(open) => !open && setShown(null)}
        title={shown ? named(shown) : ""}
        description={t`What stands at this place of the file.`}
        className="max-w-2xl"
      >
        {shown && (
          <div className="flex flex-col gap-4 text-sm">
            <p
              dir="auto"
              className="max-h-[50dvh] overflow-y-auto whitespace-pre-wrap break-words leading-6"
            >
              {shown.text}
            </p>
            <a
              href={`/api/attachments/${shown.attachment_id}`}
              className="self-start underline underline-offset-2"
            >
              <Trans>Save the file</Trans>
            </a>
          </div>
        )}
      </Dialog>
    </section>
  );
}

function named({ filename, place }: Source): string {
  return place ? `${filename}, ${place}` : filename;
}
