import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { errorMessage } from "@/api/errors";
import { getMyTools, revokeGrant, switchTools } from "@/api/tools";
import type { MyTools } from "@/api/types";
import { myToolsKey } from "@/chat/cache";
import { serverTitle, toolTitle } from "@/chat/own-tools";
import { formatList } from "@/lib/numbers";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";
import { SignInOutcome, ToolConnectionRow } from "./tool-connection";

/** Which tools one's chats may use; nothing where the organization has none. */
export function MyToolsSection() {
  const client = useQueryClient();
  const tools = useQuery({ queryKey: myToolsKey, queryFn: getMyTools });
  const settled = () => client.invalidateQueries({ queryKey: myToolsKey });
  const change = useMutation({
    mutationFn: ({ id, on }: { id: string; on: boolean }) => switchTools(id, on),
    onError: (error) => toast(errorMessage(error)),
    onSettled: settled,
  });
  const revoke = useMutation({
    mutationFn: revokeGrant,
    onError: (error) => toast(errorMessage(error)),
    onSettled: settled,
  });
  if (tools.error) {
    return (
      <Section title={t`Tools`}>
        <Notice tone="error">{errorMessage(tools.error)}</Notice>
      </Section>
    );
  }
  const { servers = [], always = [] } = tools.data ?? {};
  if (servers.length === 0 && always.length === 0) return null;
  return (
    <Section title={t`Tools`}>
      <p className="max-w-2xl text-muted-foreground text-sm">
        <Trans>
          What is switched on is offered to the model in your chats. You are asked before a call
          that changes something.
        </Trans>
      </p>
      <SignInOutcome />
      {servers.map((server) => (
        <div key={server.id} className="flex flex-col gap-2">
          <Checkbox
            label={serverTitle(server.kind, server.name)}
            hint={
              server.kind === "python"
                ? t`The model writes programs; this browser runs them without a network, and you see each of them.`
                : formatList(server.tools)
            }
            checked={server.on}
            disabled={change.isPending}
            onChange={(on) => change.mutate({ id: server.id, on })}
          />
          {server.connection && (
            <ToolConnectionRow
              server={{ ...server, connection: server.connection }}
              page="settings"
              may={server.auth === "oauth_person"}
              onChanged={settled}
            />
          )}
        </div>
      ))}
      {always.length > 0 && (
        <ul className="flex max-w-md flex-col gap-2" aria-label={t`Called without asking`}>
          {always.map((grant) => (
            <GrantRow key={grant.id} grant={grant} onRevoke={() => revoke.mutate(grant.id)} />
          ))}
        </ul>
      )}
    </Section>
  );
}

interface GrantRowProps {
  grant: MyTools["always"][number];
  onRevoke: () => void;
}

/** A tool that is called without asking, and the way to be asked again. */
function GrantRow({ grant, onRevoke }: GrantRowProps) {
  const tool = toolTitle(grant.kind, grant);
  const server = serverTitle(grant.kind, grant.server);
  return (
    <li className="flex items-center justify-between gap-3 text-sm">
      <span>
        <Trans>
          {tool} of {server} is called without asking.
        </Trans>
      </span>
      <Button
        variant="outline"
        size="sm"
        aria-label={t`Ask again before ${tool}`}
        onClick={onRevoke}
      >
        <Trans>Ask again</Trans>
      </Button>
    </li>
  );
}
