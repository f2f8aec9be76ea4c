import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Download } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { saveFile } from "@/lib/download";
import { csvOf, rowsOf } from "./csv";

/** A table that scrolls by itself, and can be taken along as CSV. */
export function Table({ children }: { children?: ReactNode }) {
  const table = useRef<HTMLTableElement>(null);
  const save = () => {
    if (!table.current) return;
    const csv = csvOf(rowsOf(table.current));
    saveFile("table.csv", new Blob(["\uFEFF", csv], { type: "text/csv" }));
  };
  return (
    <figure className="table-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard */}
      <section className="table-scroll" tabIndex={0} aria-label={t`Table`}>
        <table ref={table}>{children}</table>
      </section>
      <button
        type="button"
        onClick={save}
        className="flex cursor-pointer items-center gap-1.5 rounded-lg px-2 py-1.5 text-muted-foreground text-xs hover:bg-hover hover:text-foreground"
      >
        <Download aria-hidden className="size-3.5" />
        <Trans>Save as CSV</Trans>
      </button>
    </figure>
  );
}
