import { Trans } from "@lingui/react/macro";
import { Button } from "@/ui/button";
import { Spinner } from "@/ui/spinner";
import { type useConversations, useWhenSeen } from "./use-conversations";

/**
 * The end of a list of conversations: near the view the next page is read. After a page that could
 * not be read the reader decides when it is tried again; by itself it would be asked for all the time.
 */
export function ListEnd({ list }: { list: ReturnType<typeof useConversations> }) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError: failed } = list;
  const next = () => void list.fetchNextPage();
  const end = useWhenSeen(next, hasNextPage && !isFetchingNextPage && !failed);
  return (
    <div ref={end} className="flex min-h-8 items-center justify-center">
      {isFetchingNextPage && <Spinner className="text-muted-foreground" />}
      {failed && !isFetchingNextPage && (
        <div role="alert" className="flex items-center gap-2 text-muted-foreground text-sm">
          <Trans>The rest could not be loaded.</Trans>
          <Button variant="outline" size="sm" onClick={next}>
            <Trans>Try again</Trans>
          </Button>
        </div>
      )}
    </div>
  );
}
