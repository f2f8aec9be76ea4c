import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { errorMessage } from "@/api/errors";
import { changeEmail, changePassword, getSecurity } from "@/api/security";
import { useMe } from "@/app/session";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { toast } from "@/ui/toast";
import { DeletionSection } from "./account-deletion";
import { PageLayout, Section } from "./page-layout";
import { Reauthentication, useGuard } from "./reauthentication";
import { SecondFactors } from "./security-factors";
import { Sessions } from "./security-sessions";
import { errorOf } from "./use-auth-form";

/** What keeps the account safe: password, address, second factors, sessions, and its end. */
export function SecurityPage() {
  const { data, error } = useQuery({ queryKey: ["security"], queryFn: getSecurity });
  return (
    <PageLayout title={t`Account and security`}>
      <Reauthentication>
        {error && <Notice tone="error">{errorMessage(error)}</Notice>}
        {!data && !error && <Loading label={t`Loading your account`} />}
        <PasswordSection />
        {data && <SecondFactors security={data} />}
        <Sessions />
        <EmailSection />
        <DeletionSection />
      </Reauthentication>
    </PageLayout>
  );
}

function PasswordSection() {
  const guard = useGuard();
  const [password, setPassword] = useState("");
  const change = useMutation({
    mutationFn: () => guard(() => changePassword(password)),
    onSuccess: () => {
      setPassword("");
      toast(t`Your password is changed. Your other devices are signed out.`);
    },
  });
  const fieldError = errorOf(change.error, "password");
  return (
    <Section title={t`Password`}>
      <form
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        {change.error && !fieldError && <Notice tone="error">{errorMessage(change.error)}</Notice>}
        <Field
          label={t`New password`}
          type="password"
          autoComplete="new-password"
          minLength={8}
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          error={fieldError}
        />
        <Button
          type="submit"
          className="self-start"
          busy={change.isPending}
          disabled={password.length < 8}
        >
          <Trans>Change the password</Trans>
        </Button>
      </form>
    </Section>
  );
}

function EmailSection() {
  const address = useMe().user.email;
  const guard = useGuard();
  const [email, setEmail] = useState("");
  const change = useMutation({ mutationFn: () => guard(() => changeEmail(email)) });
  const fieldError = errorOf(change.error, "email");
  return (
    <Section title={t`E-mail address`}>
      <form
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <p className="break-words text-muted-foreground text-sm">
          <Trans>
            It is {address}. Another one counts once you have opened the link that we send to it, in
            this browser or with your password. The old one is told at once, and can stop it.
          </Trans>
        </p>
        {change.error && !fieldError && <Notice tone="error">{errorMessage(change.error)}</Notice>}
        {change.isSuccess && (
          <Notice tone="info">
            <Trans>We have written to {email}. Open the link in that mail.</Trans>{" "}
            {change.data.local_outbox && t`There is no mail server here: it is in the outbox.`}
          </Notice>
        )}
        <Field
          label={t`New address`}
          type="email"
          autoComplete="email"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          error={fieldError}
        />
        <Button type="submit" className="self-start" busy={change.isPending} disabled={!email}>
          <Trans>Change the address</Trans>
        </Button>
      </form>
    </Section>
  );
}
