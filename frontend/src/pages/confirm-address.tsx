import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { confirmAddress } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { meKey } from "@/app/session";
import { useDocumentTitle } from "@/lib/document-title";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { AuthLayout } from "./auth-layout";
import { useLinkToken, useOnce } from "./link-token";

/** Does what the link in a mail to a new address says; it signs no user in. */
export function ConfirmAddressPage() {
  const token = useLinkToken();
  const client = useQueryClient();
  const confirm = useMutation({
    mutationFn: confirmAddress,
    onSuccess: () => client.invalidateQueries({ queryKey: meKey }),
  });
  const { mutate } = confirm;
  useDocumentTitle(t`Confirm your address`);
  useOnce(() => mutate(token));
  if (confirm.isIdle || confirm.isPending) return <Loading label={t`Confirming your address`} />;
  return (
    <AuthLayout
      title={t`Confirm your address`}
      footer={
        <Link to="/" className="text-foreground underline underline-offset-4">
          <Trans>Go on to Parley</Trans>
        </Link>
      }
    >
      {confirm.error ? (
        <Notice tone="error">{errorMessage(confirm.error)}</Notice>
      ) : (
        <Notice tone="info">
          <Trans>Your address is confirmed. Sign in with it from now on.</Trans>
        </Notice>
      )}
    </AuthLayout>
  );
}
