import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { errorMessage } from "@/api/errors";
import { checkToolServer, patchToolServer } from "@/api/tools";
import type { ToolServer } from "@/api/types";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { useServerChange } from "./use-server-change";

/** Where a tool server is, and a form to change that. */
export function ServerAddress({ server }: { server: ToolServer }) {
  const [editing, setEditing] = useState(false);
  if (editing) return <AddressForm server={server} onDone={() => setEditing(false)} />;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <p dir="ltr" className="break-all text-start text-muted-foreground text-sm">
        {server.url}
      </p>
      <Button variant="ghost" size="sm" onClick={() => setEditing(true)}>
        <Trans>Change URL</Trans>
      </Button>
    </div>
  );
}

function AddressForm({ server, onDone }: { server: ToolServer; onDone: () => void }) {
  const [url, setUrl] = useState(server.url);
  const [token, setToken] = useState("");
  const takesToken = server.auth === "token";
  const save = useServerChange(async (_: undefined) => {
    await patchToolServer(server.id, { url: url.trim(), ...(token && { token: token.trim() }) });
    // Others are read once somebody has signed in.
    if (takesToken) await checkToolServer(server.id);
    onDone();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(undefined);
  };
  return (
    <form
      onSubmit={submit}
      aria-label={t`URL of ${server.name}`}
      className="flex max-w-md flex-col gap-4"
    >
      {save.error && <Notice tone="error">{errorMessage(save.error)}</Notice>}
      <Field
        label={t`URL`}
        type="url"
        required
        hint={
          server.kind === "mcp"
            ? t`Its tools are read again, and have to be allowed again.`
            : undefined
        }
        value={url}
        onChange={(event) => setUrl(event.target.value)}
      />
      {server.has_token && (
        <Field
          label={server.kind === "mcp" ? t`Bearer token` : t`Search key`}
          type="password"
          autoComplete="off"
          hint={t`Enter it again: the stored one is for the old URL only.`}
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      )}
      <div className="flex gap-2">
        <Button type="submit" busy={save.isPending}>
          <Trans>Save</Trans>
        </Button>
        <Button variant="ghost" onClick={onDone}>
          <Trans>Cancel</Trans>
        </Button>
      </div>
    </form>
  );
}
