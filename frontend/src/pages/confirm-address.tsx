import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { confirmAddress } from "@/api/account";
import { ApiError, errorMessage } from "@/api/errors";
import { meKey } from "@/app/session";
import { useDocumentTitle } from "@/lib/document-title";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { AuthLayout } from "./auth-layout";
import { useLinkToken } from "./link-token";
import { errorOf } from "./use-auth-form";

/**
 * Does what the link in a mail to a new address says, after a click: programs open links too. It
 * signs no user in, and in another browser than the asking one it needs the account's password.
 */
export function ConfirmAddressPage() {
  const token = useLinkToken();
  const client = useQueryClient();
  const confirm = useMutation({
    mutationFn: confirmAddress,
    onSuccess: () => client.invalidateQueries({ queryKey: meKey }),
  });
  useDocumentTitle(t`Confirm your address`);
  const { error } = confirm;
  const wrongPassword = errorOf(error, "password");
  const needsPassword = error instanceof ApiError && error.code === "address_password_required";
  return (
    <AuthLayout
      title={t`Confirm your address`}
      footer={
        <Link to="/" className="text-foreground underline underline-offset-4">
          <Trans>Go on to Parley</Trans>
        </Link>
      }
    >
      {confirm.isSuccess ? (
        <Notice tone="info">
          <Trans>Your address is confirmed. Sign in with it from now on.</Trans>
        </Notice>
      ) : (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            const password = new FormData(event.currentTarget).get("password");
            confirm.mutate({ token, ...(password && { password: String(password) }) });
          }}
        >
          {error && !wrongPassword && (
            <Notice tone={needsPassword ? "info" : "error"}>{errorMessage(error)}</Notice>
          )}
          {(needsPassword || confirm.variables?.password) && (
            <Field
              label={t`Password`}
              name="password"
              type="password"
              autoComplete="current-password"
              required
              autoFocus
              error={wrongPassword}
            />
          )}
          <Button type="submit" className="h-11" busy={confirm.isPending}>
            <Trans>Use this address</Trans>
          </Button>
        </form>
      )}
    </AuthLayout>
  );
}
