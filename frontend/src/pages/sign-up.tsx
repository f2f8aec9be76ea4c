import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link, Navigate } from "react-router";
import { type Credentials, signUp } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { useMeQuery } from "@/app/session";
import { useDocumentTitle } from "@/lib/document-title";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { AuthLayout } from "./auth-layout";
import { storedInvitation } from "./join-token";
import { MailSent } from "./mail-sent";
import { useAuthForm, useDestination } from "./use-auth-form";

/** An invitation that was opened in this browser goes along; it may be for another address. */
function signUpInvited(body: Credentials) {
  const invitation = storedInvitation();
  return signUp(invitation ? { ...body, invitation } : body);
}

export function SignUpPage() {
  const { data: me } = useMeQuery();
  const destination = useDestination();
  const { submit, busy, error, fieldError, isFieldError, search, sent } =
    useAuthForm(signUpInvited);
  useDocumentTitle(t`Create an account`);
  if (me) return <Navigate to={destination} replace />;
  if (sent) return <MailSent to={sent.to} localOutbox={sent.answer.local_outbox} />;
  return (
    <AuthLayout
      title={t`Create your account`}
      footer={
        <Trans>
          Already have one?{" "}
          <Link to={`/login${search}`} className="text-foreground underline underline-offset-4">
            Sign in
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
          label={t`Name`}
          name="name"
          autoComplete="name"
          maxLength={200}
          autoFocus
          error={fieldError("name")}
        />
        <Field
          label={t`E-mail`}
          name="email"
          type="email"
          autoComplete="username"
          required
          error={fieldError("email")}
        />
        <Field
          label={t`Password`}
          name="password"
          type="password"
          autoComplete="new-password"
          minLength={8}
          required
          hint={t`At least 8 characters, and not one that many people use.`}
          error={fieldError("password")}
        />
        <Button type="submit" className="mt-1 h-11" busy={busy}>
          <Trans>Create account</Trans>
        </Button>
      </form>
    </AuthLayout>
  );
}
