import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  deleteShare,
  getSharing,
  listShares,
  putSharing,
  type ShareScope,
} from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import type { ListedShare } from "@/api/types";
import { useMe } from "@/app/session";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Segmented } from "@/ui/segmented";
import { Loading } from "@/ui/spinner";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";

const sharesKey = ["shares"] as const;
const sharingKey = ["sharing"] as const;

/** The links that work: one's own, and for owners and admins everybody's, with the switch. */
export function SharedLinksSection() {
  const me = useMe();
  const manages = me.role === "owner" || me.role === "admin";
  const [scope, setScope] = useState<ShareScope>("mine");
  return (
    <Section title={t`Shared links`}>
      <SharingNotice manages={manages} />
      {manages && (
        <Segmented
          label={t`Whose links`}
          value={scope}
          onChange={setScope}
          options={[
            { value: "mine", label: t({ message: "Mine", context: "links" }) },
            { value: "organization", label: t({ message: "Everybody's", context: "links" }) },
          ]}
        />
      )}
      <ShareList scope={manages ? scope : "mine"} />
    </Section>
  );
}

function SharingNotice({ manages }: { manages: boolean }) {
  const client = useQueryClient();
  const sharing = useQuery({ queryKey: sharingKey, queryFn: getSharing });
  const change = useMutation({
    mutationFn: putSharing,
    onSuccess: (next) => {
      client.setQueryData(sharingKey, next);
      toast(next.is_allowed ? t`Members may share chats.` : t`No shared link works any more.`);
    },
  });
  if (!sharing.data) return null;
  const allowed = sharing.data.is_allowed;
  if (allowed && !manages) return null;
  return (
    <div className="flex max-w-2xl flex-col items-start gap-3">
      {change.error && <Notice tone="error">{errorMessage(change.error)}</Notice>}
      <p className="text-muted-foreground text-sm">
        {allowed
          ? t`Members of the organization may share chats by public links.`
          : t`The organization does not allow shared links: none of them works.`}
      </p>
      {manages && (
        <Button
          variant="outline"
          size="sm"
          busy={change.isPending}
          onClick={() => change.mutate(!allowed)}
        >
          {allowed ? t`Forbid shared links` : t`Allow shared links`}
        </Button>
      )}
    </div>
  );
}

function ShareList({ scope }: { scope: ShareScope }) {
  const client = useQueryClient();
  const shares = useInfiniteQuery({
    queryKey: [...sharesKey, scope],
    queryFn: ({ pageParam }) => listShares(scope, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const revoke = useMutation({
    mutationFn: (share: ListedShare) => deleteShare(share.id),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: sharesKey });
      toast(t`The link no longer works.`);
    },
    onError: (error) => toast(errorMessage(error)),
  });
  if (shares.isPending) return <Loading />;
  if (shares.isError) return <Notice tone="error">{errorMessage(shares.error)}</Notice>;
  const items = shares.data.pages.flatMap((page) => page.data);
  if (items.length === 0)
    return (
      <p className="text-muted-foreground text-sm">
        <Trans>No link works now.</Trans>
      </p>
    );
  return (
    <>
      <ul
        aria-label={t`Shared links`}
        className="flex max-w-2xl flex-col overflow-hidden rounded-2xl border border-border"
      >
        {items.map((share) => (
          <ShareRow
            key={share.id}
            share={share}
            busy={revoke.isPending}
            onRevoke={() => revoke.mutate(share)}
          />
        ))}
      </ul>
      {shares.hasNextPage && (
        <Button
          variant="outline"
          size="sm"
          className="self-start"
          busy={shares.isFetchingNextPage}
          onClick={() => void shares.fetchNextPage()}
        >
          <Trans>Show more</Trans>
        </Button>
      )}
    </>
  );
}

interface ShareRowProps {
  share: ListedShare;
  busy: boolean;
  onRevoke: () => void;
}

function ShareRow({ share, busy, onRevoke }: ShareRowProps) {
  const person = share.created_by;
  const name = share.title ?? t`Shared by ${person}`;
  const day = formatDay(share.created_at);
  const end = formatDay(share.expires_at);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-border border-b px-4 py-3 last:border-b-0">
      <span className="flex min-w-0 flex-col gap-1">
        <span dir="auto" className="truncate font-medium text-sm">
          {name}
        </span>
        <span className="text-muted-foreground text-xs">
          {t`Shared on ${day}`} · {t`works until ${end}`}
        </span>
      </span>
      <Button
        variant="outline"
        size="sm"
        aria-label={t`Revoke ${name}`}
        disabled={busy}
        onClick={onRevoke}
      >
        <Trans>Revoke</Trans>
      </Button>
    </li>
  );
}
