import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { errorMessage } from "@/api/errors";
import type { Page } from "@/api/teams";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";

interface PagedListProps<Row> {
  label: string;
  queryKey: readonly unknown[];
  load: (cursor: string | null) => Promise<Page<Row>>;
  empty: ReactNode;
  children: (row: Row) => ReactNode;
}

/** A list that the API gives in pages; `children` makes the row of each entry. */
export function PagedList<Row>({ label, queryKey, load, empty, children }: PagedListProps<Row>) {
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  if (list.isPending) return <Loading />;
  const failure = list.isError && <Notice tone="error">{errorMessage(list.error)}</Notice>;
  if (!list.data) return failure;
  const rows = list.data.pages.flatMap((page) => page.data);
  if (rows.length === 0) {
    if (failure || typeof empty !== "string") return failure || empty;
    return <p className="text-muted-foreground text-sm">{empty}</p>;
  }
  return (
    <>
      {failure}
      <ul
        aria-label={label}
        className="flex flex-col overflow-hidden rounded-2xl border border-border"
      >
        {rows.map(children)}
      </ul>
      {list.hasNextPage && (
        <Button
          variant="outline"
          size="sm"
          className="self-start"
          busy={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          <Trans>Show more</Trans>
        </Button>
      )}
    </>
  );
}

interface ListRowProps {
  title: ReactNode;
  note?: ReactNode;
  children?: ReactNode;
}

/** A row: what it is, what there is to know, and the controls. */
export function ListRow({ title, note, children }: ListRowProps) {
  return (
    <li className="flex min-h-14 flex-wrap items-center justify-between gap-x-6 gap-y-2 border-border border-b px-4 py-2.5 last:border-b-0">
      <span className="flex min-w-0 flex-col gap-0.5">
        <span dir="auto" className="max-w-full self-start truncate font-medium text-sm">
          {title}
        </span>
        {note && <span className="break-words text-muted-foreground text-xs">{note}</span>}
      </span>
      {children && <span className="flex flex-wrap items-center gap-2">{children}</span>}
    </li>
  );
}
