import { useMutation, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { listKeys, revokeKey } from "@/api/account";
import { errorMessage } from "@/api/errors";
import type { ApiKey } from "@/api/types";
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
      title="API keys"
      description="For programs that use the OpenAI-compatible API. A key acts for your organization: keep it out of pages and repositories."
      action={
        <Button onClick={() => setCreating(true)}>
          <Plus aria-hidden className="size-4" />
          Create key
        </Button>
      }
    >
      <PagedList
        label="API keys"
        queryKey={keysKey}
        load={listKeys}
        empty={
          <EmptyState icon={<KeyRound aria-hidden />}>
            There are no keys yet. Create one to call Parley from your own programs.
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
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-border border-b px-4 py-3.5 last:border-b-0">
      <div className="flex min-w-0 flex-col gap-1">
        <Link
          to={`/keys/${key.id}`}
          className="truncate font-medium text-sm underline underline-offset-4"
        >
          {key.name}
        </Link>
        <span className="flex flex-wrap gap-x-4 gap-y-1 text-muted-foreground text-xs">
          <code className="font-mono">{key.prefix}…</code>
          <span>Created {formatDay(key.created_at)}</span>
          <span>{key.last_used_at ? `Used ${formatDay(key.last_used_at)}` : "Never used"}</span>
          <span>{key.project}</span>
          <span>{key.scopes.length > 0 ? key.scopes.join(", ") : "no restriction"}</span>
          <span>{key.created_by}</span>
          {key.expires_at && <span>Expires {formatDay(key.expires_at)}</span>}
        </span>
      </div>
      <Button
        variant="outline"
        size="sm"
        aria-label={`Revoke ${key.name}`}
        onClick={() => onRevoke(key)}
      >
        Revoke
      </Button>
    </li>
  );
}

function RevokeDialog({ apiKey, onClose }: { apiKey: ApiKey | null; onClose: () => void }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: (id: string) => revokeKey(id),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keysKey });
      toast("The key no longer works.");
      onClose();
    },
  });
  return (
    <Dialog
      open={apiKey !== null}
      onOpenChange={(open) => !open && onClose()}
      title={`Revoke ${apiKey?.name ?? "key"}?`}
      description="Programs that use it are refused from now on. This can't be undone."
    >
      {revoke.error && <Notice tone="error">{errorMessage(revoke.error)}</Notice>}
      <DialogActions>
        <Button variant="outline" onClick={onClose}>
          Keep it
        </Button>
        <Button
          variant="danger"
          busy={revoke.isPending}
          onClick={() => apiKey && revoke.mutate(apiKey.id)}
        >
          Revoke key
        </Button>
      </DialogActions>
    </Dialog>
  );
}
