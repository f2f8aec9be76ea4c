import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ComponentProps, useId, useState } from "react";
import { errorMessage } from "@/api/errors";
import { deleteProvider, getProvider, putProvider } from "@/api/organization-security";
import type { SignInProvider, SignInUpdate } from "@/api/types";
import { Button } from "@/ui/button";
import { Field, inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Segmented } from "@/ui/segmented";
import { Loading } from "@/ui/spinner";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";
import { useGuard } from "./reauthentication";
import { errorOf } from "./use-auth-form";

const key = ["organization", "sso"] as const;

/** The organization's identity provider. */
export function SignInSection() {
  const provider = useQuery({ queryKey: key, queryFn: getProvider });
  return (
    <Section title="Single sign-on">
      <p className="max-w-2xl text-muted-foreground text-sm">
        People whose address is in a verified domain sign in through your identity provider, and
        join at the first time. Domains are verified on the page Organization.
      </p>
      {provider.isPending && <Loading label="Loading single sign-on" />}
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
  const found = provider.connection;
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
  });
  const change = (part: Partial<Draft>) => setDraft((earlier) => ({ ...earlier, ...part }));
  const save = useMutation({
    mutationFn: () =>
      guard(() => putProvider({ ...draft, client_secret: draft.client_secret || null })),
    onSuccess: (next) => {
      client.setQueryData(key, next);
      toast("Single sign-on is saved.");
    },
  });
  const remove = useMutation({
    mutationFn: () => guard(deleteProvider),
    onSuccess: () => client.invalidateQueries({ queryKey: key }),
  });
  const failed = save.error ?? remove.error;
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
        <Notice tone="warning">No domain is verified yet, so nobody could sign in.</Notice>
      )}
      <Segmented
        label="Protocol"
        value={draft.protocol}
        onChange={(protocol) => change({ protocol })}
        options={[
          { value: "oidc", label: "OpenID Connect" },
          { value: "saml", label: "SAML" },
        ]}
      />
      <Field
        label={isSaml ? "Entity id of the provider" : "Issuer"}
        hint={isSaml ? undefined : `Redirect URI to enter there: ${provider.redirect_uri}`}
        required
        value={draft.issuer}
        onChange={(event) => change({ issuer: event.target.value })}
        error={errorOf(save.error, "issuer")}
      />
      {isSaml ? (
        <SamlFields draft={draft} change={change} error={save.error} provider={provider} />
      ) : (
        <OidcFields draft={draft} change={change} error={save.error} isNew={!found} />
      )}
      <Field
        label={isSaml ? "Attribute with the groups" : "Claim with the groups"}
        required
        value={draft.groups_claim}
        onChange={(event) => change({ groups_claim: event.target.value })}
      />
      <Check
        label="People can sign in through it"
        checked={draft.is_enabled ?? true}
        onChange={(event) => change({ is_enabled: event.target.checked })}
      />
      <Check
        label="It may begin a sign-in by itself (a tile of its portal)"
        checked={draft.allows_idp_initiated ?? false}
        onChange={(event) => change({ allows_idp_initiated: event.target.checked })}
      />
      {draft.allows_idp_initiated && provider.start_url && (
        <p className="break-all text-muted-foreground text-xs">
          Such a tile leads to {provider.start_url}
        </p>
      )}
      <Check
        label="They have to: passwords work for owners only"
        checked={draft.is_forced ?? false}
        onChange={(event) => change({ is_forced: event.target.checked })}
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" busy={save.isPending}>
          Save single sign-on
        </Button>
        {found && (
          <Button variant="outline" busy={remove.isPending} onClick={() => remove.mutate()}>
            Remove the provider
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

function OidcFields({ draft, change, error, isNew }: FieldsProps & { isNew: boolean }) {
  return (
    <>
      <Field
        label="Client id"
        required
        value={draft.client_id}
        onChange={(event) => change({ client_id: event.target.value })}
        error={errorOf(error, "client_id")}
      />
      <Field
        label="Client secret"
        type="password"
        autoComplete="off"
        required={isNew}
        hint={isNew ? undefined : "Empty: the one that is stored."}
        value={draft.client_secret}
        onChange={(event) => change({ client_secret: event.target.value })}
        error={errorOf(error, "client_secret")}
      />
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
  return (
    <>
      <Field
        label="Sign-in URL of the provider"
        type="url"
        required
        value={draft.sso_url}
        onChange={(event) => change({ sso_url: event.target.value })}
        error={errorOf(error, "sso_url")}
      />
      <Field
        label="Logout URL of the provider"
        type="url"
        hint="Empty: signing out there does not sign people out here."
        value={draft.slo_url}
        onChange={(event) => change({ slo_url: event.target.value })}
        error={errorOf(error, "slo_url")}
      />
      <div className="flex flex-col gap-1.5">
        <label htmlFor={id} className="font-medium text-sm">
          Certificates (PEM)
        </label>
        <textarea
          id={id}
          required
          rows={5}
          className={`${inputClass} h-auto py-2 font-mono`}
          value={draft.certificates}
          onChange={(event) => change({ certificates: event.target.value })}
        />
      </div>
      {provider.acs_url && (
        <p className="break-all text-muted-foreground text-xs">
          To enter there: entity id {provider.entity_id}, assertion consumer service{" "}
          {provider.acs_url}, single logout {provider.logout_url}
        </p>
      )}
    </>
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
