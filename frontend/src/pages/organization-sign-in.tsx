import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ComponentProps, useId, useState } from "react";
import { errorMessage } from "@/api/errors";
import {
  deleteProvider,
  forgetIdentities,
  getProvider,
  putProvider,
  readMetadata,
} from "@/api/organization-security";
import type { SignInProvider, SignInUpdate } from "@/api/types";
import { Button } from "@/ui/button";
import { Field, inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Segmented } from "@/ui/segmented";
import { Select } from "@/ui/select";
import { Loading } from "@/ui/spinner";
import { toast } from "@/ui/toast";
import { roleName } from "./organization-roles";
import { Section } from "./page-layout";
import { useGuard } from "./reauthentication";
import { errorOf } from "./use-auth-form";

const key = ["organization", "sso"] as const;
const newcomerRoles = ["member", "finance", "viewer"] as const;

/** The organization's identity provider. */
export function SignInSection() {
  const provider = useQuery({ queryKey: key, queryFn: getProvider });
  return (
    <Section title={t`Single sign-on`}>
      <p className="max-w-2xl text-muted-foreground text-sm">
        <Trans>
          People whose address is in a verified domain sign in through your identity provider, and
          join at the first time. Domains are verified on the page Organization.
        </Trans>
      </p>
      {provider.isPending && <Loading label={t`Loading single sign-on`} />}
      {provider.error && <Notice tone="error">{errorMessage(provider.error)}</Notice>}
      {provider.data && (
        <ProviderForm
          key={provider.data.connection?.changed_at ?? "new"}
          provider={provider.data}
        />
      )}
    </Section>
  );
}

type Draft = Omit<SignInUpdate, "client_secret"> & { client_secret: string };

function ProviderForm({ provider }: { provider: SignInProvider }) {
  const client = useQueryClient();
  const guard = useGuard();
  const { connection: found, redirect_uri: redirectUri, start_url: startUrl } = provider;
  const [draft, setDraft] = useState<Draft>({
    protocol: found?.protocol ?? "oidc",
    issuer: found?.issuer ?? "",
    default_role: (found?.default_role ?? "member") as SignInUpdate["default_role"],
    is_enabled: found?.is_enabled ?? true,
    is_forced: found?.is_forced ?? false,
    client_id: found?.client_id ?? "",
    client_secret: "",
    sso_url: found?.sso_url ?? "",
    certificates: found?.certificates ?? "",
    groups_claim: found?.groups_claim ?? "groups",
    allows_idp_initiated: found?.allows_idp_initiated ?? false,
    slo_url: found?.slo_url ?? "",
    email_claim: found?.email_claim ?? "",
    takes_unstated_email: found?.takes_unstated_email ?? false,
    returns_after_logout: found?.returns_after_logout ?? false,
  });
  const change = (part: Partial<Draft>) => setDraft((earlier) => ({ ...earlier, ...part }));
  const save = useMutation({
    mutationFn: () =>
      guard(() => putProvider({ ...draft, client_secret: draft.client_secret || null })),
    onSuccess: (next) => {
      client.setQueryData(key, next);
      toast(t`Single sign-on is saved.`);
    },
  });
  const remove = useMutation({
    mutationFn: () => guard(deleteProvider),
    onSuccess: () => client.invalidateQueries({ queryKey: key }),
  });
  const forget = useMutation({
    mutationFn: () => guard(forgetIdentities),
    onSuccess: () => toast(t`At their next sign-in, people are found by their address.`),
  });
  const failed = save.error ?? remove.error ?? forget.error;
  const isSaml = draft.protocol === "saml";
  return (
    <form
      className="flex max-w-xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      {failed && <Notice tone="error">{errorMessage(failed)}</Notice>}
      {provider.verified_domains.length === 0 && (
        <Notice tone="warning">
          <Trans>No domain is verified yet, so nobody could sign in.</Trans>
        </Notice>
      )}
      <Segmented
        label={t`Protocol`}
        value={draft.protocol}
        onChange={(protocol) => change({ protocol })}
        options={[
          { value: "oidc", label: t`OpenID Connect` },
          { value: "saml", label: t`SAML` },
        ]}
      />
      <Field
        label={isSaml ? t`Entity id of the provider` : t`Issuer`}
        hint={isSaml ? undefined : t`Redirect URI to enter there: ${redirectUri}`}
        required
        value={draft.issuer}
        onChange={(event) => change({ issuer: event.target.value })}
        error={errorOf(save.error, "issuer")}
      />
      {isSaml ? (
        <SamlFields draft={draft} change={change} error={save.error} provider={provider} />
      ) : (
        <OidcFields
          draft={draft}
          change={change}
          error={save.error}
          isNew={!found}
          provider={provider}
        />
      )}
      <Field
        label={isSaml ? t`Attribute with the e-mail address` : t`Claim with the e-mail address`}
        hint={t`Empty: the usual names.`}
        value={draft.email_claim ?? ""}
        onChange={(event) => change({ email_claim: event.target.value })}
      />
      <Field
        label={isSaml ? t`Attribute with the groups` : t`Claim with the groups`}
        required
        value={draft.groups_claim}
        onChange={(event) => change({ groups_claim: event.target.value })}
      />
      <Select
        label={t`Role of newcomers`}
        value={draft.default_role ?? "member"}
        onChange={(role) => change({ default_role: role })}
        options={newcomerRoles.map((role) => ({ value: role, label: roleName(role) }))}
      />
      <Check
        label={t`People can sign in through it`}
        checked={draft.is_enabled ?? true}
        onChange={(event) => change({ is_enabled: event.target.checked })}
      />
      <Check
        label={t`It may begin a sign-in by itself (a tile of its portal)`}
        checked={draft.allows_idp_initiated ?? false}
        onChange={(event) => change({ allows_idp_initiated: event.target.checked })}
      />
      {draft.allows_idp_initiated && (
        <p className="break-all text-muted-foreground text-xs">
          <Trans>
            Such a tile leads to <span dir="ltr">{startUrl}</span>
          </Trans>
        </p>
      )}
      <Check
        label={t`They have to: passwords work for owners only`}
        checked={draft.is_forced ?? false}
        onChange={(event) => change({ is_forced: event.target.checked })}
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" busy={save.isPending}>
          <Trans>Save single sign-on</Trans>
        </Button>
        {found && (
          <Button variant="outline" busy={remove.isPending} onClick={() => remove.mutate()}>
            <Trans>Remove the provider</Trans>
          </Button>
        )}
        {found && (
          <Button variant="outline" busy={forget.isPending} onClick={() => forget.mutate()}>
            <Trans>Link people by address anew</Trans>
          </Button>
        )}
      </div>
    </form>
  );
}

interface FieldsProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  error: unknown;
}

function OidcFields({
  draft,
  change,
  error,
  isNew,
  provider,
}: FieldsProps & { isNew: boolean; provider: SignInProvider }) {
  const { logged_out_url: loggedOutUrl, backchannel_logout_url: backchannelUrl } = provider;
  return (
    <>
      <Field
        label={t`Client id`}
        required
        value={draft.client_id}
        onChange={(event) => change({ client_id: event.target.value })}
        error={errorOf(error, "client_id")}
      />
      <Field
        label={t`Client secret`}
        type="password"
        autoComplete="off"
        required={isNew}
        hint={isNew ? undefined : t`Empty: the one that is stored.`}
        value={draft.client_secret}
        onChange={(event) => change({ client_secret: event.target.value })}
        error={errorOf(error, "client_secret")}
      />
      <Check
        label={t`It sends no email_verified (Microsoft Entra): addresses count as verified`}
        checked={draft.takes_unstated_email ?? false}
        onChange={(event) => change({ takes_unstated_email: event.target.checked })}
      />
      <Check
        label={t`It knows ${loggedOutUrl} as a place to return to after signing out`}
        checked={draft.returns_after_logout ?? false}
        onChange={(event) => change({ returns_after_logout: event.target.checked })}
      />
      <p className="break-all text-muted-foreground text-xs">
        <Trans>
          Back-channel logout, if the provider has it: <span dir="ltr">{backchannelUrl}</span>
        </Trans>
      </p>
    </>
  );
}

function SamlFields({
  draft,
  change,
  error,
  provider,
}: FieldsProps & { provider: SignInProvider }) {
  const id = useId();
  const { entity_id: entityId, acs_url: acsUrl, logout_url: logoutUrl } = provider;
  return (
    <>
      <MetadataField change={change} />
      <Field
        label={t`Sign-in URL of the provider`}
        type="url"
        required
        value={draft.sso_url}
        onChange={(event) => change({ sso_url: event.target.value })}
        error={errorOf(error, "sso_url")}
      />
      <Field
        label={t`Logout URL of the provider`}
        type="url"
        hint={t`Empty: signing out on one side leaves the other signed in.`}
        value={draft.slo_url}
        onChange={(event) => change({ slo_url: event.target.value })}
        error={errorOf(error, "slo_url")}
      />
      <div className="flex flex-col gap-1.5">
        <label htmlFor={id} className="font-medium text-sm">
          <Trans>Certificates (PEM)</Trans>
        </label>
        <textarea
          id={id}
          required
          rows={5}
          dir="ltr"
          className={`${inputClass} h-auto py-2 font-mono`}
          value={draft.certificates}
          onChange={(event) => change({ certificates: event.target.value })}
        />
      </div>
      <p className="break-all text-muted-foreground text-xs">
        <Trans>
          To enter there: entity id, at which our metadata is, <span dir="ltr">{entityId}</span>,
          assertion consumer service <span dir="ltr">{acsUrl}</span>, single logout{" "}
          <span dir="ltr">{logoutUrl}</span>
        </Trans>
      </p>
    </>
  );
}

/** Fills the form from the provider's metadata. */
function MetadataField({ change }: Pick<FieldsProps, "change">) {
  const id = useId();
  const [metadata, setMetadata] = useState("");
  const read = useMutation({
    mutationFn: () => readMetadata(metadata),
    onSuccess: (found) => change(found),
  });
  return (
    <div className="flex flex-col items-start gap-2">
      <label htmlFor={id} className="font-medium text-sm">
        <Trans>Metadata of the provider: its address, or the XML</Trans>
      </label>
      <textarea
        id={id}
        rows={2}
        dir="ltr"
        className={`${inputClass} h-auto py-2 font-mono`}
        value={metadata}
        onChange={(event) => setMetadata(event.target.value)}
      />
      {read.error && <Notice tone="error">{errorMessage(read.error)}</Notice>}
      <Button
        variant="outline"
        disabled={!metadata.trim()}
        busy={read.isPending}
        onClick={() => read.mutate()}
      >
        <Trans>Read the metadata</Trans>
      </Button>
    </div>
  );
}

export function Check({ label, ...props }: { label: string } & ComponentProps<"input">) {
  return (
    <label className="flex items-center gap-2.5 text-sm">
      <input type="checkbox" className="size-4" {...props} />
      {label}
    </label>
  );
}
