import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { listKeys, revokeKey } from "@/api/account";
import { errorMessage } from "@/api/errors";
import type { ApiKey } from "@/api/types";
import { formatList } from "@/lib/numbers";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";
import { NewKeyDialog } from "./new-key-dialog";
import { EmptyState, PageLayout } from "./page-layout";
import { PagedList } from "./paged-list";

export const keysKey = ["keys"] as const;

export function KeysPage() {
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  return (
    <PageLayout
      title={t`API keys`}
      description={t`For programs that use the OpenAI-compatible API. A key acts for your organization: keep it out of pages and repositories.`}
      action={
        <Button onClick={() => setCreating(true)}>
          <Plus aria-hidden className="size-4" />
          <Trans>Create key</Trans>
        </Button>
      }
    >
      <PagedList
        label={t`API keys`}
        queryKey={keysKey}
        load={listKeys}
        empty={
          <EmptyState icon={<KeyRound aria-hidden />}>
            <Trans>There are no keys yet. Create one to call Parley from your own programs.</Trans>
          </EmptyState>
        }
      >
        {(key) => <KeyRow key={key.id} apiKey={key} onRevoke={setRevoking} />}
      </PagedList>
      <NewKeyDialog open={creating} onOpenChange={setCreating} />
      <RevokeDialog apiKey={revoking} onClose={() => setRevoking(null)} />
    </PageLayout>
  );
}

interface KeyRowProps {
  apiKey: ApiKey;
  onRevoke: (key: ApiKey) => void;
}

function KeyRow({ apiKey: key, onRevoke }: KeyRowProps) {
  const { name } = key;
  const created = formatDay(key.created_at);
  const used = key.last_used_at && formatDay(key.last_used_at);
  const end = key.expires_at && formatDay(key.expires_at);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-border border-b px-4 py-3.5 last:border-b-0">
      <div className="flex min-w-0 flex-col gap-1">
        <Link
          to={`/keys/${key.id}`}
          dir="auto"
          className="truncate font-medium text-sm underline underline-offset-4"
        >
          {name}
        </Link>
        <span className="flex flex-wrap gap-x-4 gap-y-1 text-muted-foreground text-xs">
          <code dir="ltr" className="font-mono">
            {key.prefix}…
          </code>
          <span>
            <Trans>Created {created}</Trans>
          </span>
          <span>{used ? t`Used ${used}` : t`Never used`}</span>
          <span>{key.project}</span>
          <span>{key.scopes.length > 0 ? formatList(key.scopes) : t`no restriction`}</span>
          <span>{key.created_by}</span>
          {end && (
            <span>
              <Trans>Expires {end}</Trans>
            </span>
          )}
        </span>
      </div>
      <Button
        variant="outline"
        size="sm"
        aria-label={t`Revoke ${name}`}
        onClick={() => onRevoke(key)}
      >
        <Trans>Revoke</Trans>
      </Button>
    </li>
  );
}

function RevokeDialog({ apiKey, onClose }: { apiKey: ApiKey | null; onClose: () => void }) {
  const client = useQueryClient();
  const name = apiKey?.name;
  const revoke = useMutation({
    mutationFn: (id: string) => revokeKey(id),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keysKey });
      toast(t`The key no longer works.`);
      onClose();
    },
  });
  return (
    <Dialog
      open={apiKey !== null}
      onOpenChange={(open) => !open && onClose()}
      title={name ? t`Revoke ${name}?` : t`Revoke key?`}
      description={t`Programs that use it are refused from now on. This can't be undone.`}
    >
      {revoke.error && <Notice tone="error">{errorMessage(revoke.error)}</Notice>}
      <DialogActions>
        <Button variant="outline" onClick={onClose}>
          <Trans>Keep it</Trans>
        </Button>
        <Button
          variant="danger"
          busy={revoke.isPending}
          onClick={() => apiKey && revoke.mutate(apiKey.id)}
        >
          <Trans>Revoke key</Trans>
        </Button>
      </DialogActions>
    </Dialog>
  );
}
