/** What stands before the page: terms to accept, an organization that is not served or asks more. */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { acceptTerms, patchMe, signOut } from "@/api/account";
import { managesMoney } from "@/api/billing";
import { errorMessage } from "@/api/errors";
import type { Me } from "@/api/types";
import { AuthLayout } from "@/pages/auth-layout";
import { Button, buttonClass } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { meKey, useSetMe } from "./session";

export function TermsGate({ me }: { me: Me }) {
  const client = useQueryClient();
  const accept = useMutation({
    mutationFn: () => acceptTerms(me.pending_terms.map(({ id }) => id)),
    onSuccess: (next) => client.setQueryData(meKey, next),
  });
  return (
    <AuthLayout title={t`Our terms have changed`} footer={<AccountLinks />}>
      {accept.error && <Notice tone="error">{errorMessage(accept.error)}</Notice>}
      <ul className="flex flex-col gap-4">
        {me.pending_terms.map(({ id, name, version, link, summary }) => (
          <li key={id} className="flex flex-col gap-1 text-sm">
            <a
              className="font-medium underline first-letter:uppercase"
              href={link}
              rel="noreferrer"
              target="_blank"
            >
              <Trans>
                {name}, version {version}
              </Trans>
            </a>
            {summary && (
              <p dir="auto" className="text-muted-foreground">
                {summary}
              </p>
            )}
          </li>
        ))}
      </ul>
      <Button busy={accept.isPending} onClick={() => accept.mutate()}>
        <Trans>I accept</Trans>
      </Button>
    </AuthLayout>
  );
}

export function SuspendedGate({ me }: { me: Me }) {
  const { name, suspended: why } = me.organization;
  return (
    <AuthLayout title={t`Suspended`} footer={<AccountLinks />}>
      <Notice tone="warning" title={t`${name} is suspended`}>
        <Trans>{why} Its chats and keys stay, and work again when it is reinstated.</Trans>
      </Notice>
      {managesMoney(me.role) && (
        <Link className={buttonClass()} to="/billing">
          <Trans>Invoices and payment</Trans>
        </Link>
      )}
      {me.support_contact && (
        <a className={buttonClass("outline")} href={me.support_contact}>
          <Trans>Contact support</Trans>
        </a>
      )}
      <OtherOrganizations me={me} />
    </AuthLayout>
  );
}

export function SecondFactorGate({ me }: { me: Me }) {
  const { name } = me.organization;
  return (
    <AuthLayout title={t`One more step`} footer={<AccountLinks />}>
      <Notice tone="info" title={t`${name} demands a second factor`}>
        <Trans>Add an authenticator app or a passkey to your account. Then everything opens.</Trans>
      </Notice>
      <Link className={buttonClass()} to="/settings/security">
        <Trans>Set it up</Trans>
      </Link>
      <OtherOrganizations me={me} />
    </AuthLayout>
  );
}

function OtherOrganizations({ me }: { me: Me }) {
  const setMe = useSetMe();
  const change = useMutation({
    mutationFn: (id: string) => patchMe({ organization_id: id }),
    onSuccess: setMe,
  });
  const others = me.organizations.filter(
    ({ id, suspended }) => id !== me.organization.id && !suspended,
  );
  return (
    <>
      {change.error && <Notice tone="error">{errorMessage(change.error)}</Notice>}
      {others.map(({ id, name }) => (
        <Button
          key={id}
          variant="outline"
          busy={change.isPending}
          onClick={() => change.mutate(id)}
        >
          <Trans>Work in {name}</Trans>
        </Button>
      ))}
    </>
  );
}

/** What stays open: one's account and data, and the way out. */
function AccountLinks() {
  const setMe = useSetMe();
  const leave = useMutation({ mutationFn: signOut, onSuccess: () => setMe(null) });
  return (
    <>
      <Link className="underline" to="/settings/security">
        <Trans>Your account</Trans>
      </Link>
      {" · "}
      <Link className="underline" to="/settings/privacy">
        <Trans>Your data</Trans>
      </Link>
      {" · "}
      <button type="button" className="underline" onClick={() => leave.mutate()}>
        <Trans>Sign out</Trans>
      </button>
    </>
  );
}
