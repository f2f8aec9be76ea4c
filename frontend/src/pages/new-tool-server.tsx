import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { errorMessage } from "@/api/errors";
import { checkToolServer, createToolServer, type ToolAuth } from "@/api/tools";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Select } from "@/ui/select";
import { Section } from "./page-layout";
import { useServerChange } from "./use-server-change";

const EMPTY = { name: "", url: "", token: "", clientId: "", clientSecret: "" };

/** A form for another MCP server, and for how it is told who calls. */
export function NewToolServer() {
  const [auth, setAuth] = useState<ToolAuth>("token");
  const [written, setWritten] = useState(EMPTY);
  const { name, url, token, clientId, clientSecret } = written;
  const set = (change: Partial<typeof EMPTY>) => setWritten((now) => ({ ...now, ...change }));
  const ofToken = auth === "token";
  const add = useServerChange(async (_: undefined) => {
    const client = { client_id: clientId.trim(), client_secret: clientSecret.trim() };
    const made = await createToolServer({
      name: name.trim(),
      url: url.trim(),
      auth,
      token: ofToken ? token : "",
      client: ofToken || !client.client_id ? null : client,
    });
    setWritten(EMPTY);
    setAuth("token");
    // Others are read once somebody has signed in.
    if (ofToken) await checkToolServer(made.id);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate(undefined);
  };
  return (
    <Section title={t`Add an MCP server`}>
      <p className="max-w-2xl text-muted-foreground text-sm">
        <Trans>
          Whoever runs the server sees what models send it, and what it answers goes into chats. No
          tool is offered until you allow it.
        </Trans>
      </p>
      <form onSubmit={submit} className="flex max-w-md flex-col gap-4">
        {add.error && <Notice tone="error">{errorMessage(add.error)}</Notice>}
        <Field
          label={t`Name`}
          required
          maxLength={60}
          value={name}
          onChange={(event) => set({ name: event.target.value })}
        />
        <Field
          label={t`URL`}
          type="url"
          required
          placeholder={t`https://tools.example.org/mcp`}
          value={url}
          onChange={(event) => set({ url: event.target.value })}
        />
        <Select<ToolAuth>
          label={t`Who calls`}
          value={auth}
          onChange={setAuth}
          options={[
            { value: "token", label: t`The organization, by a token or without` },
            { value: "oauth_person", label: t`Each person, who signs in there (OAuth)` },
            { value: "oauth_organization", label: t`All, as one of you signs in there (OAuth)` },
          ]}
        />
        {ofToken ? (
          <Field
            label={t`Bearer token`}
            type="password"
            autoComplete="off"
            hint={t`Stored encrypted, and never shown again.`}
            value={token}
            onChange={(event) => set({ token: event.target.value })}
          />
        ) : (
          <>
            <Field
              label={t`Client id`}
              autoComplete="off"
              hint={t`Only where the server's sign-in registers no clients by itself.`}
              value={clientId}
              onChange={(event) => set({ clientId: event.target.value })}
            />
            <Field
              label={t`Client secret`}
              type="password"
              autoComplete="off"
              hint={t`Stored encrypted, and never shown again.`}
              value={clientSecret}
              onChange={(event) => set({ clientSecret: event.target.value })}
            />
          </>
        )}
        <Button type="submit" className="self-start" busy={add.isPending}>
          <Trans>Add the server</Trans>
        </Button>
      </form>
    </Section>
  );
}
