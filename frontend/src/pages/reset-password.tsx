import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";
import { resetPassword } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { useSetMe } from "@/app/session";
import { useDocumentTitle } from "@/lib/document-title";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { AuthLayout } from "./auth-layout";
import { useLinkToken } from "./link-token";
import { errorOf } from "./use-auth-form";

/** Where the link of a reset leads. */
export function ResetPasswordPage() {
  const token = useLinkToken();
  const setMe = useSetMe();
  const reset = useMutation({
    mutationFn: (form: FormData) =>
      resetPassword({
        token,
        password: String(form.get("password")),
        revoke_keys: form.has("revoke_keys"),
      }),
    onSuccess: () => setMe(null), // every session has ended, this one too
  });
  useDocumentTitle(t`Choose another password`);
  const fieldError = errorOf(reset.error, "password");
  return (
    <AuthLayout
      title={t`Choose another password`}
      footer={
        <Link to="/login" className="text-foreground underline underline-offset-4">
          <Trans>Sign in</Trans>
        </Link>
      }
    >
      {reset.isSuccess ? (
        <Notice tone="info">
          <Trans>Your password is changed. Sign in with it.</Trans>
        </Notice>
      ) : (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            reset.mutate(new FormData(event.currentTarget));
          }}
        >
          {reset.error && !fieldError && <Notice tone="error">{errorMessage(reset.error)}</Notice>}
          <Field
            label={t`New password`}
            name="password"
            type="password"
            autoComplete="new-password"
            minLength={8}
            required
            autoFocus
            hint={t`At least 8 characters, and not one that many people use.`}
            error={fieldError}
          />
          <label className="flex items-start gap-2 text-sm">
            <input type="checkbox" name="revoke_keys" className="mt-0.5 size-4 accent-primary" />
            <Trans>Also revoke my API keys: somebody else may have used my account.</Trans>
          </label>
          <Button type="submit" className="h-11" busy={reset.isPending}>
            <Trans>Change the password</Trans>
          </Button>
        </form>
      )}
    </AuthLayout>
  );
}
