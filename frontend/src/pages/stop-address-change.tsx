import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";
import { stopAddressChange } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { useDocumentTitle } from "@/lib/document-title";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { AuthLayout } from "./auth-layout";
import { useLinkToken } from "./link-token";

/** Stops the change of address that the link in a mail to the old address is about. */
export function StopAddressChangePage() {
  const token = useLinkToken();
  const stop = useMutation({ mutationFn: stopAddressChange });
  useDocumentTitle(t`Keep your address`);
  return (
    <AuthLayout
      title={t`Keep your address`}
      footer={
        <Link to="/forgot-password" className="text-foreground underline underline-offset-4">
          <Trans>Choose another password</Trans>
        </Link>
      }
    >
      {stop.error && <Notice tone="error">{errorMessage(stop.error)}</Notice>}
      {stop.isSuccess ? (
        <Notice tone="info">
          <Trans>
            Your address stays. If it was not you who asked for another one, choose another password
            now.
          </Trans>
        </Notice>
      ) : (
        <Button className="h-11" busy={stop.isPending} onClick={() => stop.mutate(token)}>
          <Trans>Stop the change</Trans>
        </Button>
      )}
    </AuthLayout>
  );
}
