import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { errorMessage } from "@/api/errors";
import {
  checkToolServer,
  createWebSearch,
  deleteToolServer,
  patchToolServer,
  type SearchProvider,
  type ToolRule,
} from "@/api/tools";
import type { ToolServer } from "@/api/types";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Select } from "@/ui/select";
import { Section } from "./page-layout";
import { ServerAddress } from "./server-address";
import { ToolRules } from "./tool-rules";
import { ToolServerError } from "./tool-server-error";
import { useServerChange } from "./use-server-change";

const providers: { value: SearchProvider; label: string }[] = [
  { value: "searxng", label: "SearXNG" },
  { value: "brave", label: "Brave Search" },
  { value: "tavily", label: "Tavily" },
];

/** Where the organization's chats search the web; `server` is null where they cannot yet. */
export function WebSearchSection({ server }: { server: ToolServer | null }) {
  return (
    <Section title={t`Web search`}>
      <p className="max-w-2xl text-muted-foreground text-sm">
        {server
          ? t`Whoever writes in a chat lets it search by “Search the web” beside the message. Searches leave the product, to the provider below.`
          : t`Chats cannot search the web until a provider is named. It receives what models search for; pages are read by the product itself.`}
      </p>
      {server ? <Provider server={server} /> : <NewProvider />}
    </Section>
  );
}

function Provider({ server }: { server: ToolServer }) {
  const provider = labelOf(server);
  const check = useServerChange(checkToolServer);
  const remove = useServerChange(deleteToolServer);
  const change = useServerChange((body: { enabled?: boolean; tools?: ToolRule[] }) =>
    patchToolServer(server.id, body),
  );
  const error = check.error ?? remove.error ?? change.error;
  return (
    <>
      {error && <Notice tone="error">{errorMessage(error)}</Notice>}
      <ToolServerError server={server} />
      {check.isSuccess && !server.error && (
        <Notice tone="info">
          <Trans>The provider answered.</Trans>
        </Notice>
      )}
      <Checkbox
        label={t`Chats may search the web`}
        hint={t`Through ${provider}`}
        checked={server.enabled}
        disabled={change.isPending}
        onChange={(enabled) => change.mutate({ enabled })}
      />
      <ServerAddress server={server} />
      <ToolRules
        server={server}
        disabled={change.isPending}
        claims={() => t`It only reads.`}
        onChange={(rule) => change.mutate({ tools: [rule] })}
      />
      <div className="flex flex-wrap gap-2">
        <Button variant="outline" busy={check.isPending} onClick={() => check.mutate(server.id)}>
          <Trans>Try a search</Trans>
        </Button>
        <Button
          variant="danger"
          aria-label={t`Remove the provider`}
          onClick={() => remove.mutate(server.id)}
        >
          <Trans>Remove</Trans>
        </Button>
      </div>
    </>
  );
}

function NewProvider() {
  const [provider, setProvider] = useState<SearchProvider>("searxng");
  const [url, setUrl] = useState("");
  const [token, setToken] = useState("");
  const add = useServerChange(async (_: undefined) => {
    const { id } = await createWebSearch({ provider, url: url.trim(), token: token.trim() });
    setToken("");
    await checkToolServer(id);
  });
  const own = provider === "searxng";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate(undefined);
  };
  return (
    <form onSubmit={submit} aria-label={t`Web search`} className="flex max-w-md flex-col gap-4">
      {add.error && <Notice tone="error">{errorMessage(add.error)}</Notice>}
      <Select
        label={t`Search provider`}
        value={provider}
        onChange={(next) => {
          setProvider(next);
          setUrl("");
        }}
        options={providers}
      />
      {own && (
        <Field
          label={t`Address of SearXNG`}
          type="url"
          required
          placeholder={t`https://search.example.org`}
          hint={t`Its settings must allow the format json.`}
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
      )}
      <Field
        label={t`Search key`}
        type="password"
        autoComplete="off"
        required={!own}
        hint={
          own
            ? t`Where it asks for one. Stored encrypted, and never shown again.`
            : t`Stored encrypted, and never shown again.`
        }
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <Button type="submit" className="self-start" busy={add.isPending}>
        <Trans>Let chats search the web</Trans>
      </Button>
    </form>
  );
}

const labelOf = ({ kind }: ToolServer): string =>
  providers.find(({ value }) => value === kind)?.label ?? kind;
