import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { errorMessage } from "@/api/errors";
import { activateTotp, beginTotp, removeTotp, renewRecoveryCodes } from "@/api/security";
import type { Security, TotpEnrolment } from "@/api/types";
import { meKey } from "@/app/session";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field } from "@/ui/field";
import { Section } from "./page-layout";
import { useGuard } from "./reauthentication";
import { Passkeys } from "./security-passkeys";
import { type OnChange, Row } from "./security-row";

/** The authenticator app, passkeys and recovery codes. */
export function SecondFactors({ security }: { security: Security }) {
  const client = useQueryClient();
  const [codes, setCodes] = useState<string[]>([]);
  const [codesShown, setCodesShown] = useState(false);
  const changed = (result?: { recovery_codes: string[] } | undefined) => {
    if (result?.recovery_codes.length) {
      setCodes(result.recovery_codes);
      setCodesShown(true);
    }
    void client.invalidateQueries({ queryKey: meKey });
    return client.invalidateQueries({ queryKey: ["security"] });
  };
  const hasFactor = security.totp || security.passkeys.length > 0;
  return (
    <Section title={t`Second factors`}>
      <p className="max-w-2xl text-muted-foreground text-sm">
        <Trans>
          With a second factor a stolen password alone opens nothing. The administration of this
          installation asks its staff for one.
        </Trans>
      </p>
      <ul className="flex max-w-2xl flex-col overflow-hidden rounded-2xl border border-border">
        <Totp enrolled={security.totp} onChange={changed} />
        <Passkeys passkeys={security.passkeys} onChange={changed} />
        {hasFactor && <RecoveryCodes left={security.recovery_codes} onChange={changed} />}
      </ul>
      <CodesDialog open={codesShown} codes={codes} onClose={() => setCodesShown(false)} />
    </Section>
  );
}

function Totp({ enrolled, onChange }: { enrolled: boolean; onChange: OnChange }) {
  const guard = useGuard();
  const begin = useMutation({ mutationFn: () => guard(beginTotp) });
  const remove = useMutation({
    mutationFn: () => guard(removeTotp),
    onSuccess: () => onChange(),
  });
  return (
    <>
      <Row
        title={t`Authenticator app`}
        note={enrolled ? t`Signing in asks for its code.` : t`Codes of an app on your phone.`}
        error={begin.error ?? remove.error}
      >
        {enrolled ? (
          <Button
            variant="outline"
            size="sm"
            busy={remove.isPending}
            aria-label={t`Remove the authenticator app`}
            onClick={() => remove.mutate()}
          >
            <Trans>Remove</Trans>
          </Button>
        ) : (
          <Button
            variant="outline"
            size="sm"
            busy={begin.isPending}
            aria-label={t`Add an authenticator app`}
            onClick={() => begin.mutate()}
          >
            <Trans>Add</Trans>
          </Button>
        )}
      </Row>
      {begin.data && (
        <TotpDialog enrolment={begin.data} onClose={() => begin.reset()} onChange={onChange} />
      )}
    </>
  );
}

interface TotpDialogProps {
  enrolment: TotpEnrolment;
  onClose: () => void;
  onChange: OnChange;
}

function TotpDialog({ enrolment, onClose, onChange }: TotpDialogProps) {
  const { secret } = enrolment;
  const guard = useGuard();
  const activate = useMutation({
    mutationFn: (code: string) => guard(() => activateTotp(code)),
    onSuccess: async (result) => {
      await onChange(result);
      onClose();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t`Add an authenticator app`}
      description={t`Scan this with the app, then enter the code that it shows.`}
    >
      <img
        src={`data:image/svg+xml;base64,${btoa(enrolment.qr_svg)}`}
        width={200}
        height={200}
        className="self-center rounded-xl bg-white p-2"
        alt={t`QR code of the secret below`}
      />
      <p className="text-muted-foreground text-sm">
        <Trans>
          Or type the secret into the app:{" "}
          <code dir="ltr" className="break-all text-foreground" data-testid="totp-secret">
            {secret}
          </code>
        </Trans>
      </p>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          activate.mutate(String(new FormData(event.currentTarget).get("code")));
        }}
      >
        <Field
          label={t`Code of the app`}
          name="code"
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={10}
          required
          autoFocus
          error={activate.error ? errorMessage(activate.error) : undefined}
        />
        <DialogActions>
          <Button type="submit" busy={activate.isPending}>
            <Trans>Add the app</Trans>
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function RecoveryCodes({ left, onChange }: { left: number; onChange: OnChange }) {
  const guard = useGuard();
  const renew = useMutation({
    mutationFn: () => guard(renewRecoveryCodes),
    onSuccess: onChange,
  });
  return (
    <Row
      title={t`Recovery codes`}
      note={plural(left, {
        one: "# is left. Each lets you in once without your phone.",
        other: "# are left. Each lets you in once without your phone.",
      })}
      error={renew.error}
    >
      <Button
        variant="outline"
        size="sm"
        busy={renew.isPending}
        aria-label={t`Make new recovery codes`}
        onClick={() => renew.mutate()}
      >
        <Trans>New codes</Trans>
      </Button>
    </Row>
  );
}

interface CodesDialogProps {
  open: boolean;
  codes: string[];
  onClose: () => void;
}

function CodesDialog({ open, codes, onClose }: CodesDialogProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onClose}
      title={t`Your recovery codes`}
      description={t`Keep them where your phone is not: each lets you in once without it. They are shown this once.`}
    >
      <ul
        aria-label={t`Recovery codes`}
        className="grid grid-cols-2 gap-2 rounded-xl bg-muted p-4 font-mono text-sm"
      >
        {codes.map((code) => (
          <li key={code} dir="ltr">
            {code}
          </li>
        ))}
      </ul>
      <DialogActions>
        <Button onClick={onClose}>
          <Trans>I have kept them</Trans>
        </Button>
      </DialogActions>
    </Dialog>
  );
}
