import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation } from "@tanstack/react-query";
import { Building2, KeyRound } from "lucide-react";
import { useState } from "react";
import { Link, Navigate, useSearchParams } from "react-router";
import { giveSecondFactor, signIn } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { startSignIn } from "@/api/organization-security";
import { hasPasskeys } from "@/api/passkeys";
import { signInWithPasskey } from "@/api/security";
import type { SecondFactorNeeded } from "@/api/types";
import { useMeQuery, useSetMe } from "@/app/session";
import { useDocumentTitle } from "@/lib/document-title";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { AuthLayout } from "./auth-layout";
import { useAuthForm, useDestination } from "./use-auth-form";

export function SignInPage() {
  const { data: me } = useMeQuery();
  const destination = useDestination();
  const [needed, setNeeded] = useState<SecondFactorNeeded | null>(null);
  useDocumentTitle(t`Sign in`);
  if (me) return <Navigate to={destination} replace />;
  if (needed) return <SecondFactor needed={needed} onBack={() => setNeeded(null)} />;
  return <Password onSecondFactor={setNeeded} />;
}

function Password({ onSecondFactor }: { onSecondFactor: (needed: SecondFactorNeeded) => void }) {
  const setMe = useSetMe();
  const { submit, busy, error, fieldError, isFieldError, search } = useAuthForm(signIn, (answer) =>
    "second_factor" in answer ? onSecondFactor(answer) : setMe(answer),
  );
  return (
    <AuthLayout
      title={t`Welcome back`}
      footer={
        <Trans>
          New here?{" "}
          <Link to={`/signup${search}`} className="text-foreground underline underline-offset-4">
            Create an account
          </Link>
        </Trans>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit(new FormData(event.currentTarget));
        }}
      >
        {error && !isFieldError && <Notice tone="error">{errorMessage(error)}</Notice>}
        <Field
          label={t`E-mail`}
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          error={fieldError("email")}
        />
        <Field
          label={t`Password`}
          name="password"
          type="password"
          autoComplete="current-password"
          required
          error={fieldError("password")}
        />
        <Button type="submit" className="mt-1 h-11" busy={busy}>
          <Trans>Sign in</Trans>
        </Button>
      </form>
      <div className="flex flex-col gap-4">
        <PasskeyButton />
        <SingleSignOn />
        <Link
          to="/forgot-password"
          className="self-center text-muted-foreground text-sm underline underline-offset-4"
        >
          <Trans>Forgot your password?</Trans>
        </Link>
      </div>
    </AuthLayout>
  );
}

/** Why single sign-on failed, in the page's words: anybody can write the link. */
function refusal(code: string): string {
  switch (code) {
    case "sso_unavailable":
      return t`Your organization's identity provider can't be reached. Try again later.`;
    case "sso_deactivated":
      return t`Your organization has deactivated this account.`;
    case "sso_unknown":
      return t`No organization signs in people with this address.`;
    case "sso_foreign_address":
    case "sso_unverified_address":
    case "sso_address_reused":
      return t`Your organization's identity provider sent an email address that can't be used here. Ask your administrator.`;
    case "no_seats":
      return t`All seats of your organization's plan are taken. Ask your administrator.`;
    default:
      return t`Signing in through your organization didn't work. Try again, or ask your administrator.`;
  }
}

/** Through the organization's identity provider, which comes back here when it fails. */
function SingleSignOn() {
  const [params] = useSearchParams();
  const destination = useDestination();
  const [open, setOpen] = useState(false);
  const start = useMutation({
    mutationFn: startSignIn,
    onSuccess: ({ url }) => window.location.assign(url),
  });
  const code = params.get("sso_error");
  const refused = code && !open ? refusal(code) : null;
  if (!open) {
    return (
      <>
        {refused && <Notice tone="error">{refused}</Notice>}
        <Button variant="outline" className="h-11" onClick={() => setOpen(true)}>
          <Building2 aria-hidden className="size-4" />
          <Trans>Single sign-on</Trans>
        </Button>
      </>
    );
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const email = String(new FormData(event.currentTarget).get("work"));
        start.mutate({ email, next: destination });
      }}
    >
      {start.error && <Notice tone="error">{errorMessage(start.error)}</Notice>}
      <Field
        label={t`Work e-mail`}
        name="work"
        type="email"
        autoComplete="email"
        required
        autoFocus
      />
      <Button type="submit" className="h-11" busy={start.isPending || start.isSuccess}>
        <Trans>Continue to your organization</Trans>
      </Button>
    </form>
  );
}

function PasskeyButton() {
  const setMe = useSetMe();
  const ask = useMutation({ mutationFn: signInWithPasskey, onSuccess: setMe });
  if (!hasPasskeys()) return null;
  return (
    <>
      {ask.error && <Notice tone="error">{errorMessage(ask.error)}</Notice>}
      <Button variant="outline" className="h-11" busy={ask.isPending} onClick={() => ask.mutate()}>
        <KeyRound aria-hidden className="size-4" />
        <Trans>Use a passkey</Trans>
      </Button>
    </>
  );
}

interface SecondFactorProps {
  needed: SecondFactorNeeded;
  onBack: () => void;
}

function SecondFactor({ needed, onBack }: SecondFactorProps) {
  const setMe = useSetMe();
  const give = useMutation({ mutationFn: giveSecondFactor, onSuccess: setMe });
  const factors = needed.second_factor;
  const hasApp = factors.includes("totp");
  const [recovery, setRecovery] = useState(!hasApp && !factors.includes("webauthn"));
  const asksForCode = hasApp || recovery;
  return (
    <AuthLayout
      title={t`Second step`}
      footer={
        <button
          type="button"
          className="cursor-pointer underline underline-offset-4"
          onClick={onBack}
        >
          <Trans>Use another account</Trans>
        </button>
      }
    >
      {asksForCode && (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            give.mutate(String(new FormData(event.currentTarget).get("code")));
          }}
        >
          {give.error && <Notice tone="error">{errorMessage(give.error)}</Notice>}
          <Field
            key={String(recovery)}
            label={recovery ? t`Recovery code` : t`Code of your authenticator app`}
            name="code"
            autoComplete="one-time-code"
            inputMode="numeric"
            maxLength={40}
            required
            autoFocus
          />
          <Button type="submit" className="h-11" busy={give.isPending}>
            <Trans>Continue</Trans>
          </Button>
        </form>
      )}
      <div className="flex flex-col gap-4">
        {factors.includes("webauthn") && <PasskeyButton />}
        {!recovery && factors.includes("recovery_codes") && (
          <Button variant="ghost" onClick={() => setRecovery(true)}>
            <Trans>Use a recovery code</Trans>
          </Button>
        )}
      </div>
    </AuthLayout>
  );
}
