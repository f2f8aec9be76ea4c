import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { errorMessage } from "@/api/errors";
import { createExport, exportLink, listExports } from "@/api/privacy";
import type { DataExport, DataExportList } from "@/api/types";
import { readableSize } from "@/lib/sizes";
import { formatDayAndTime } from "@/lib/time";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";
import { useGuard } from "./reauthentication";

const exportsKey = ["exports"] as const;
const POLL_MS = 3000;

const isUnfinished = ({ state }: DataExport) => state !== "done" && state !== "failed";

interface ExportButtonProps {
  scope: "me" | "organization";
  children: ReactNode;
}

export function ExportButton({ scope, children }: ExportButtonProps) {
  const client = useQueryClient();
  const guard = useGuard();
  const ask = useMutation({
    mutationFn: () => guard(() => createExport(scope)),
    onSuccess: () => {
      toast(t`The copy is being made.`);
      void client.invalidateQueries({ queryKey: exportsKey });
    },
  });
  return (
    <>
      {ask.error && <Notice tone="error">{errorMessage(ask.error)}</Notice>}
      <Button
        variant="outline"
        className="h-auto min-h-10 max-w-full self-start whitespace-normal"
        busy={ask.isPending}
        onClick={() => ask.mutate()}
      >
        {children}
      </Button>
    </>
  );
}

/** The newest ten, followed while one is being made. */
export function ExportList() {
  const { data, error } = useQuery({
    queryKey: exportsKey,
    queryFn: listExports,
    refetchInterval: (query) => {
      const shown: DataExportList | undefined = query.state.data;
      return shown?.data.some(isUnfinished) ? POLL_MS : false;
    },
  });
  if (error) return <Notice tone="error">{errorMessage(error)}</Notice>;
  if (!data?.data.length) return null;
  return (
    <ul
      aria-label={t({ message: "Copies", context: "of one's data" })}
      className="flex max-w-md flex-col overflow-hidden rounded-2xl border border-border"
    >
      {data.data.map((made) => (
        <li
          key={made.id}
          className="flex min-h-14 items-center justify-between gap-3 border-border border-b px-4 py-2 text-sm last:border-b-0"
        >
          <span className="flex min-w-0 flex-col">
            <span className="font-medium">
              {made.scope === "me" ? t`Your data` : t`The organization's data`}
            </span>
            <span className="text-muted-foreground text-xs">
              {formatDayAndTime(made.created_at)}
              {made.state === "done" && ` · ${readableSize(made.size)}`}
            </span>
          </span>
          <State made={made} />
        </li>
      ))}
    </ul>
  );
}

function State({ made }: { made: DataExport }) {
  const guard = useGuard();
  const download = useMutation({
    mutationFn: () => guard(() => exportLink(made.id)),
    onSuccess: ({ url }) => window.location.assign(url),
    onError: (error) => toast(errorMessage(error)),
  });
  const quiet = "text-muted-foreground";
  if (isUnfinished(made)) return <span className={quiet}>{t`Being made`}</span>;
  if (made.state === "failed") return <span className="text-destructive">{t`Failed`}</span>;
  if (!made.expires_at || new Date(made.expires_at) < new Date())
    return <span className={quiet}>{t`Expired`}</span>;
  return (
    <Button size="sm" variant="outline" busy={download.isPending} onClick={() => download.mutate()}>
      <Trans>Download</Trans>
    </Button>
  );
}
