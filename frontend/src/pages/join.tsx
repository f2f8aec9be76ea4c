import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate } from "react-router";
import { signOut } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { acceptInvitation, readInvitation } from "@/api/teams";
import { useMeQuery, useSetMe } from "@/app/session";
import { useDocumentTitle } from "@/lib/document-title";
import { Button, buttonClass } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { AuthLayout } from "./auth-layout";
import { forgetInvitation, storedInvitation, storeInvitation } from "./join-token";
import { useOnce } from "./link-token";
import { roleWord } from "./organization-roles";

/** What an invitation's link opens: the offer, and the ways to take it. */
export function JoinPage() {
  const [token] = useState(() => window.location.hash.slice(1) || storedInvitation() || "");
  const offer = useQuery({
    queryKey: ["invitation"],
    queryFn: () => readInvitation(token),
    retry: false,
    enabled: token !== "",
  });
  const me = useMeQuery();
  useDocumentTitle(t`Join an organization`);
  useOnce(() => {
    if (token) storeInvitation(token);
    window.history.replaceState(window.history.state, "", window.location.pathname);
  });
  if (me.isPending || (token && offer.isPending))
    return <Loading label={t`Reading the invitation`} />;
  if (!offer.data) {
    return (
      <AuthLayout
        title={t`Invitation`}
        footer={
          <Link to="/">
            <Trans>Back to Parley</Trans>
          </Link>
        }
      >
        <Notice tone="error">
          {offer.error ? errorMessage(offer.error) : t`This link holds no invitation.`}
        </Notice>
      </AuthLayout>
    );
  }
  const { organization, for_address } = offer.data;
  const role = roleWord(offer.data.role);
  return (
    <AuthLayout
      title={t`Join ${organization}`}
      footer={
        for_address
          ? t`It is for the address that it was mailed to.`
          : t`It works until it is used up.`
      }
    >
      <p className="text-center text-muted-foreground text-sm">
        <Trans>
          You are invited to the organization {organization} as {role}.
        </Trans>
      </p>
      {me.data ? <Accept token={token} email={me.data.user.email} /> : <Doors />}
    </AuthLayout>
  );
}

function Accept({ token, email }: { token: string; email: string }) {
  const setMe = useSetMe();
  const accept = useMutation({
    mutationFn: () => acceptInvitation(token),
    onSuccess: (me) => {
      forgetInvitation();
      setMe(me);
    },
  });
  const leave = useMutation({ mutationFn: signOut, onSuccess: () => setMe(null) });
  if (accept.isSuccess) return <Navigate to="/" replace />;
  return (
    <>
      {accept.error && <Notice tone="error">{errorMessage(accept.error)}</Notice>}
      <Button className="h-11" busy={accept.isPending} onClick={() => accept.mutate()}>
        <Trans>Join as {email}</Trans>
      </Button>
      <Button variant="ghost" busy={leave.isPending} onClick={() => leave.mutate()}>
        <Trans>Use another account</Trans>
      </Button>
    </>
  );
}

function Doors() {
  return (
    <div className="flex flex-col gap-3">
      <Link to="/signup?next=/join" className={buttonClass()}>
        <Trans>Create an account</Trans>
      </Link>
      <Link to="/login?next=/join" className={buttonClass("outline")}>
        <Trans>Sign in</Trans>
      </Link>
    </div>
  );
}
