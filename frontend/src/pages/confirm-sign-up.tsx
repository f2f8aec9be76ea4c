import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation } from "@tanstack/react-query";
import { Link, Navigate } from "react-router";
import { confirmSignUp } from "@/api/account";
import { ApiError, errorMessage } from "@/api/errors";
import { useSetMe } from "@/app/session";
import { useDocumentTitle } from "@/lib/document-title";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { AuthLayout } from "./auth-layout";
import { forgetInvitation } from "./join-token";
import { useLinkToken, useOnce } from "./link-token";

/** Makes the account of a sign-up's link; in another browser it asks for the password first. */
export function ConfirmSignUpPage() {
  const token = useLinkToken();
  const setMe = useSetMe();
  const confirm = useMutation({
    mutationFn: confirmSignUp,
    onSuccess: (me) => {
      forgetInvitation();
      setMe(me);
    },
  });
  const { mutate } = confirm;
  useDocumentTitle(t`Confirm your address`);
  useOnce(() => mutate({ token }));
  if (confirm.isSuccess) return <Navigate to="/" replace />;
  const { error } = confirm;
  const givenPassword = confirm.variables?.password;
  const asksForPassword = error instanceof ApiError && error.status === 401;
  if (!error) {
    return <Loading label={t`Confirming your address`} />;
  }
  return (
    <AuthLayout
      title={t`Confirm your address`}
      footer={
        <Link to="/signup" className="text-foreground underline underline-offset-4">
          <Trans>Sign up again</Trans>
        </Link>
      }
    >
      <Notice tone={asksForPassword && !givenPassword ? "info" : "error"}>
        {errorMessage(error)}
      </Notice>
      {asksForPassword && (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            mutate({ token, password: String(new FormData(event.currentTarget).get("password")) });
          }}
        >
          <Field
            label={t`Password`}
            name="password"
            type="password"
            autoComplete="current-password"
            required
            autoFocus
          />
          <Button type="submit" className="h-11" busy={confirm.isPending}>
            <Trans>Confirm</Trans>
          </Button>
        </form>
      )}
    </AuthLayout>
  );
}
