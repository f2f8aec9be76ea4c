import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";
import { askForReset } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { useDocumentTitle } from "@/lib/document-title";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { AuthLayout } from "./auth-layout";
import { MailSent } from "./mail-sent";

export function ForgotPasswordPage() {
  const ask = useMutation({ mutationFn: askForReset });
  useDocumentTitle(t`Forgot your password`);
  if (ask.isSuccess) return <MailSent to={ask.variables} localOutbox={ask.data.local_outbox} />;
  return (
    <AuthLayout
      title={t`Choose another password`}
      footer={
        <Link to="/login" className="text-foreground underline underline-offset-4">
          <Trans>Back to the sign-in</Trans>
        </Link>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          ask.mutate(String(new FormData(event.currentTarget).get("email")));
        }}
      >
        {ask.error && <Notice tone="error">{errorMessage(ask.error)}</Notice>}
        <Field
          label={t`E-mail`}
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          hint={t`A link to choose another password goes there.`}
        />
        <Button type="submit" className="h-11" busy={ask.isPending}>
          <Trans>Send the link</Trans>
        </Button>
      </form>
    </AuthLayout>
  );
}
