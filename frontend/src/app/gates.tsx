/** What stands before the page: terms to accept, an organization that is not served or asks more. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { acceptTerms, patchMe, signOut } from "@/api/account";
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
    <AuthLayout title="Our terms have changed" footer={<AccountLinks />}>
      {accept.error && <Notice tone="error">{errorMessage(accept.error)}</Notice>}
      <ul className="flex flex-col gap-4">
        {me.pending_terms.map((version) => (
          <li key={version.id} className="flex flex-col gap-1 text-sm">
            <a
              className="font-medium underline first-letter:uppercase"
              href={version.link}
              rel="noreferrer"
              target="_blank"
            >
              {version.name}, version {version.version}
            </a>
            {version.summary && <p className="text-muted-foreground">{version.summary}</p>}
          </li>
        ))}
      </ul>
      <Button busy={accept.isPending} onClick={() => accept.mutate()}>
        I accept
      </Button>
    </AuthLayout>
  );
}

export function SuspendedGate({ me }: { me: Me }) {
  return (
    <AuthLayout title="Suspended" footer={<AccountLinks />}>
      <Notice tone="warning" title={`${me.organization.name} is suspended`}>
        {me.organization.suspended} Its chats and keys stay, and work again when it is reinstated.
      </Notice>
      <OtherOrganizations me={me} />
    </AuthLayout>
  );
}

export function SecondFactorGate({ me }: { me: Me }) {
  return (
    <AuthLayout title="One more step" footer={<AccountLinks />}>
      <Notice tone="info" title={`${me.organization.name} demands a second factor`}>
        Add an authenticator app or a passkey to your account. Then everything opens.
      </Notice>
      <Link className={buttonClass()} to="/settings/security">
        Set it up
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
      {others.map((other) => (
        <Button
          key={other.id}
          variant="outline"
          busy={change.isPending}
          onClick={() => change.mutate(other.id)}
        >
          Work in {other.name}
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
        Your account
      </Link>
      {" · "}
      <Link className="underline" to="/settings/privacy">
        Your data
      </Link>
      {" · "}
      <button type="button" className="underline" onClick={() => leave.mutate()}>
        Sign out
      </button>
    </>
  );
}
