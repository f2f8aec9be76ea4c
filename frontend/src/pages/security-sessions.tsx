import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { errorMessage } from "@/api/errors";
import { endAllSessions, endSession, listSessions } from "@/api/security";
import type { Session } from "@/api/types";
import { useSetMe } from "@/app/session";
import { formatDayAndTime } from "@/lib/time";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";
import { deviceName } from "./device-name";
import { Section } from "./page-layout";

/** Where the person is signed in, and the ways to end that. */
export function Sessions() {
  const client = useQueryClient();
  const setMe = useSetMe();
  const { data, error } = useQuery({ queryKey: ["sessions"], queryFn: listSessions });
  const end = useMutation({
    mutationFn: endSession,
    onSuccess: () => client.invalidateQueries({ queryKey: ["sessions"] }),
    onError: (failure) => toast(errorMessage(failure)),
  });
  const endAll = useMutation({
    mutationFn: endAllSessions,
    onSuccess: () => setMe(null),
    onError: (failure) => toast(errorMessage(failure)),
  });
  return (
    <Section title={t`Where you are signed in`}>
      {error && <Notice tone="error">{errorMessage(error)}</Notice>}
      <ul className="flex max-w-2xl flex-col overflow-hidden rounded-2xl border border-border">
        {data?.map((session) => (
          <SessionRow
            key={session.id}
            session={session}
            busy={end.isPending && end.variables === session.id}
            onEnd={() => end.mutate(session.id)}
          />
        ))}
      </ul>
      <Button
        variant="outline"
        className="self-start"
        busy={endAll.isPending}
        onClick={() => endAll.mutate()}
      >
        <Trans>Sign out everywhere</Trans>
      </Button>
    </Section>
  );
}

interface SessionRowProps {
  session: Session;
  busy: boolean;
  onEnd: () => void;
}

function SessionRow({ session, busy, onEnd }: SessionRowProps) {
  const { ip } = session;
  const device = deviceName(session.user_agent);
  const time = formatDayAndTime(session.last_seen_at);
  return (
    <li className="flex min-h-14 items-center justify-between gap-3 border-border border-b px-4 py-2 last:border-b-0">
      <span className="flex min-w-0 flex-col">
        <span className="truncate font-medium text-sm">{device}</span>
        <span className="text-muted-foreground text-xs">
          <bdi>{ip}</bdi> · {t`used ${time}`}
        </span>
      </span>
      {session.current ? (
        <span className="shrink-0 text-muted-foreground text-sm">
          <Trans>This device</Trans>
        </span>
      ) : (
        <Button
          variant="outline"
          size="sm"
          busy={busy}
          aria-label={t`Sign out ${device} at ${ip}`}
          onClick={onEnd}
        >
          <Trans>Sign out</Trans>
        </Button>
      )}
    </li>
  );
}
