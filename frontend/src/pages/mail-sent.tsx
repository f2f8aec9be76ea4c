import { Link } from "react-router";
import { Notice } from "@/ui/notice";
import { AuthLayout } from "./auth-layout";

/** After a sign-up or a question for a reset: the same for every address. */
export function MailSent({ to, localOutbox }: { to: string; localOutbox: boolean }) {
  return (
    <AuthLayout
      title="Look at your mail"
      footer={
        <Link to="/login" className="text-foreground underline underline-offset-4">
          Back to the sign-in
        </Link>
      }
    >
      <div role="status" className="flex flex-col gap-4 text-center text-sm">
        <p>
          We have written to <strong className="break-all font-medium">{to}</strong>. Open the link
          in that mail, in this browser, to go on.
        </p>
        {localOutbox && (
          <Notice tone="info" title="There is no mail server here">
            The operator of this installation finds the mail in its log, and on the outbox page
            whose address was printed at the start.
          </Notice>
        )}
      </div>
    </AuthLayout>
  );
}
