import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { errorMessage } from "@/api/errors";
import {
  checkToolServer,
  deleteToolServer,
  listToolServers,
  patchToolServer,
  type ToolRule,
} from "@/api/tools";
import type { ToolServer } from "@/api/types";
import { useMe } from "@/app/session";
import { isOfWeb, serverTitle } from "@/chat/own-tools";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { NewToolServer } from "./new-tool-server";
import { WebSearchSection } from "./organization-web";
import { PageLayout, Section } from "./page-layout";
import { Reauthentication, useGuard } from "./reauthentication";
import { ServerAddress } from "./server-address";
import { SignInOutcome, ToolConnectionRow } from "./tool-connection";
import { ToolRules } from "./tool-rules";
import { ToolServerError } from "./tool-server-error";
import { toolServersKey, useServerChange } from "./use-server-change";

type Change = { enabled?: boolean; tools?: ToolRule[] };

/** The organization's web search and MCP servers, for its owners and admins. */
export function OrganizationToolsPage() {
  const me = useMe();
  const { name } = me.organization;
  const manages = me.role === "owner" || me.role === "admin";
  return (
    <PageLayout
      title={t`Tools`}
      description={t({ message: `Of ${name}.`, context: "organization" })}
    >
      {manages ? (
        <Reauthentication>
          <SignInOutcome />
          <Servers />
          <NewToolServer />
        </Reauthentication>
      ) : (
        <Notice tone="info">
          <Trans>Only owners and admins see this.</Trans>
        </Notice>
      )}
    </PageLayout>
  );
}

function Servers() {
  const servers = useQuery({ queryKey: toolServersKey, queryFn: listToolServers });
  if (servers.error) return <Notice tone="error">{errorMessage(servers.error)}</Notice>;
  if (!servers.data) return null;
  const { data } = servers.data;
  return (
    <>
      <WebSearchSection server={data.find(({ kind }) => isOfWeb(kind)) ?? null} />
      {data.map((server) => !isOfWeb(server.kind) && <Server key={server.id} server={server} />)}
    </>
  );
}

function Server({ server }: { server: ToolServer }) {
  const client = useQueryClient();
  const guard = useGuard();
  const check = useServerChange(checkToolServer);
  const remove = useServerChange(deleteToolServer);
  const change = useServerChange((body: Change) => patchToolServer(server.id, body));
  const refused = refusedRule(change);
  const error = check.error ?? remove.error ?? (refused ? null : change.error);
  const isPython = server.kind === "python";
  return (
    <Section title={serverTitle(server.kind, server.name)}>
      {isPython ? (
        <p className="max-w-2xl text-muted-foreground text-sm">
          <Trans>
            Programs that a model writes run in the browser of the person who asks, who sees them.
            They reach neither the network nor the page. Each person switches it on in the settings.
          </Trans>
        </p>
      ) : (
        <ServerAddress server={server} />
      )}
      {error && <Notice tone="error">{errorMessage(error)}</Notice>}
      <ToolServerError server={server} />
      {server.connection && (
        <ToolConnectionRow
          server={{ ...server, connection: server.connection }}
          page="organization"
          guard={guard}
          may
          onChanged={() => void client.invalidateQueries({ queryKey: toolServersKey })}
        />
      )}
      <div className="flex flex-wrap gap-2">
        {!isPython && (
          <Button variant="outline" busy={check.isPending} onClick={() => check.mutate(server.id)}>
            <Trans>Read its tools</Trans>
          </Button>
        )}
        <Button variant="outline" onClick={() => change.mutate({ enabled: !server.enabled })}>
          {server.enabled ? t`Switch off` : t`Switch on`}
        </Button>
        {!isPython && (
          <Button variant="danger" onClick={() => remove.mutate(server.id)}>
            <Trans>Remove</Trans>
          </Button>
        )}
      </div>
      <ToolRules
        server={server}
        disabled={change.isPending}
        refused={refused}
        claims={isPython ? () => t`A program changes nothing outside its sandbox.` : claims}
        onChange={(rule) => change.mutate({ tools: [rule] })}
      />
    </Section>
  );
}

/** The rule of a tool that could not be changed, if the last change was of one. */
function refusedRule({
  error,
  variables,
}: {
  error: Error | null;
  variables?: Change | undefined;
}) {
  const [rule] = variables?.tools ?? [];
  return error && rule ? { tool: rule.name, error } : undefined;
}

function claims(tool: ToolServer["tools"][number]): string {
  if (tool.claims_read_only) {
    return t`Its server says that it only reads, which nobody has checked. If you untick this, it is called in everybody's chats without asking.`;
  }
  if (tool.claims_destructive) {
    return t`Its server says that it may destroy. If you untick this, it is called in everybody's chats without asking.`;
  }
  return t`Its server does not say that it only reads. If you untick this, it is called in everybody's chats without asking.`;
}
