import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { errorMessage } from "@/api/errors";
import { beginToolSignIn, disconnectTool, type SignInPage } from "@/api/tools";
import type { ToolConnection } from "@/api/types";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";

interface ToolConnectionRowProps {
  server: { id: string; name: string; connection: ToolConnection };
  /** Where the browser comes back to. */
  page: SignInPage;
  /** Asks for the password where the change needs it. */
  guard?: <T>(change: () => Promise<T>) => Promise<T>;
  /** Whether the caller may connect and disconnect; others see how it stands. */
  may: boolean;
  onChanged: () => void;
}

/** How one stands with a tool server that is signed in at, and the way in or out. */
export function ToolConnectionRow(props: ToolConnectionRowProps) {
  const { server, page, guard = (change) => change(), may, onChanged } = props;
  const { name, connection } = server;
  const connect = useMutation({
    mutationFn: () => guard(() => beginToolSignIn(server.id, page)),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  const [, setQuery] = useSearchParams();
  const disconnect = useMutation({
    mutationFn: () => guard(() => disconnectTool(server.id)),
    onSettled: () => {
      setQuery({}, { replace: true }); // what became of the last sign-in says nothing any more
      onChanged();
    },
  });
  const error = connect.error ?? disconnect.error;
  const connected = connection.state === "connected";
  const isNew = connection.state === "not_connected";
  return (
    <div className="flex flex-col gap-2">
      {error && <Notice tone="error">{errorMessage(error)}</Notice>}
      <div className="flex max-w-2xl flex-wrap items-center gap-x-4 gap-y-2 text-sm">
        <p className="min-w-0 shrink grow basis-64 break-words">
          <Standing connection={connection} />
        </p>
        {may && !connected && (
          <Button
            variant="outline"
            size="sm"
            aria-label={isNew ? t`Connect to ${name}` : t`Connect again to ${name}`}
            busy={connect.isPending || connect.isSuccess}
            onClick={() => connect.mutate()}
          >
            {isNew ? t`Connect` : t`Connect again`}
          </Button>
        )}
        {may && !isNew && (
          <Button
            variant="outline"
            size="sm"
            aria-label={t`Disconnect from ${name}`}
            busy={disconnect.isPending}
            onClick={() => disconnect.mutate()}
          >
            <Trans>Disconnect</Trans>
          </Button>
        )}
      </div>
    </div>
  );
}

function Standing({ connection }: { connection: ToolConnection }) {
  const { state, account, error } = connection;
  const why = error && <span className="block text-muted-foreground text-xs">{error}</span>;
  switch (state) {
    case "connected":
      return (
        <Trans>
          Connected as <bdi className="font-medium">{account}</bdi>
        </Trans>
      );
    case "expired":
      return (
        <>
          <Trans>The sign-in has expired.</Trans>
          {why}
        </>
      );
    case "refused":
      return (
        <>
          <Trans>The sign-in was refused.</Trans>
          {why}
        </>
      );
    case "not_connected":
      return <Trans>Not connected.</Trans>;
  }
}

/** What became of a sign-in from which the browser has just come back. */
export function SignInOutcome() {
  const [query] = useSearchParams();
  switch (query.get("tool_sign_in")) {
    case "connected":
      return (
        <Notice tone="info">
          <Trans>You are connected.</Trans>
        </Notice>
      );
    case "refused":
      return (
        <Notice tone="warning">
          <Trans>The tool server's sign-in was refused.</Trans>
        </Notice>
      );
    case "failed":
      return (
        <Notice tone="error">
          <Trans>The tool server's sign-in did not work.</Trans>
        </Notice>
      );
    case "unknown":
      return (
        <Notice tone="error">
          <Trans>This answer belongs to no sign-in that was begun here. Connect again.</Trans>
        </Notice>
      );
    default:
      return null;
  }
}
