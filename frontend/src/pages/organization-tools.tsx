import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { errorMessage } from "@/api/errors";
import {
  checkToolServer,
  createToolServer,
  deleteToolServer,
  listToolServers,
  patchToolServer,
  type ToolRule,
} from "@/api/tools";
import type { ToolServer } from "@/api/types";
import { useMe } from "@/app/session";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { WebSearchSection } from "./organization-web";
import { PageLayout, Section } from "./page-layout";
import { Reauthentication } from "./reauthentication";
import { ToolRules } from "./tool-rules";
import { toolServersKey, useServerChange } from "./use-server-change";

/** The organization's web search and MCP servers, for its owners and admins. */
export function OrganizationToolsPage() {
  const me = useMe();
  const manages = me.role === "owner" || me.role === "admin";
  return (
    <PageLayout title="Tools" description={`Of ${me.organization.name}.`}>
      {manages ? (
        <Reauthentication>
          <Servers />
          <NewServer />
        </Reauthentication>
      ) : (
        <Notice tone="info">Only owners and admins see this.</Notice>
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
      <WebSearchSection server={data.find(({ kind }) => kind !== "mcp") ?? null} />
      {data.map((server) => server.kind === "mcp" && <Server key={server.id} server={server} />)}
    </>
  );
}

function Server({ server }: { server: ToolServer }) {
  const check = useServerChange(checkToolServer);
  const remove = useServerChange(deleteToolServer);
  const change = useServerChange((body: { enabled?: boolean; tools?: ToolRule[] }) =>
    patchToolServer(server.id, body),
  );
  const error = check.error ?? remove.error ?? change.error;
  return (
    <Section title={server.name}>
      <p className="break-all text-muted-foreground text-sm">{server.url}</p>
      {error && <Notice tone="error">{errorMessage(error)}</Notice>}
      {server.error && <Notice tone="warning">{server.error}</Notice>}
      <div className="flex flex-wrap gap-2">
        <Button variant="outline" busy={check.isPending} onClick={() => check.mutate(server.id)}>
          Read its tools
        </Button>
        <Button variant="outline" onClick={() => change.mutate({ enabled: !server.enabled })}>
          {server.enabled ? "Switch off" : "Switch on"}
        </Button>
        <Button variant="danger" onClick={() => remove.mutate(server.id)}>
          Remove
        </Button>
      </div>
      <ToolRules
        server={server}
        disabled={change.isPending}
        claims={claims}
        onChange={(rule) => change.mutate({ tools: [rule] })}
      />
    </Section>
  );
}

function claims(tool: ToolServer["tools"][number]): string {
  if (tool.claims_read_only) return "Its server says that it only reads.";
  if (tool.claims_destructive) return "Its server says that it may destroy.";
  return "Its server does not say that it only reads.";
}

function NewServer() {
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [token, setToken] = useState("");
  const add = useServerChange(async (_: undefined) => {
    const made = await createToolServer({ name: name.trim(), url: url.trim(), token });
    setName("");
    setUrl("");
    setToken("");
    await checkToolServer(made.id);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate(undefined);
  };
  return (
    <Section title="Add an MCP server">
      <p className="max-w-2xl text-muted-foreground text-sm">
        Whoever runs the server sees what models send it, and what it answers goes into chats. No
        tool is offered until you allow it.
      </p>
      <form onSubmit={submit} className="flex max-w-md flex-col gap-4">
        {add.error && <Notice tone="error">{errorMessage(add.error)}</Notice>}
        <Field
          label="Name"
          required
          maxLength={60}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label="URL"
          type="url"
          required
          placeholder="https://tools.example.org/mcp"
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
        <Field
          label="Bearer token"
          type="password"
          autoComplete="off"
          hint="Stored encrypted, and never shown again."
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <Button type="submit" className="self-start" busy={add.isPending}>
          Add the server
        </Button>
      </form>
    </Section>
  );
}
