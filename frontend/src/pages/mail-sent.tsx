import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "react-router";
import { Notice } from "@/ui/notice";
import { AuthLayout } from "./auth-layout";

/** After a sign-up or a question for a reset: the same for every address. */
export function MailSent({ to, localOutbox }: { to: string; localOutbox: boolean }) {
  return (
    <AuthLayout
      title={t`Look at your mail`}
      footer={
        <Link to="/login" className="text-foreground underline underline-offset-4">
          <Trans>Back to the sign-in</Trans>
        </Link>
      }
    >
      <div role="status" className="flex flex-col gap-4 text-center text-sm">
        <p>
          <Trans>
            We have written to{" "}
            <strong dir="ltr" className="break-all font-medium">
              {to}
            </strong>
            . Open the link in that mail, in this browser, to go on.
          </Trans>
        </p>
        {localOutbox && (
          <Notice tone="info" title={t`There is no mail server here`}>
            <Trans>
              The operator of this installation finds the mail in its log, and on the outbox page
              whose address was printed at the start.
            </Trans>
          </Notice>
        )}
      </div>
    </AuthLayout>
  );
}
