import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { hasPasskeys } from "@/api/passkeys";
import { addPasskey, removePasskey } from "@/api/security";
import type { Passkey } from "@/api/types";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field } from "@/ui/field";
import { useGuard } from "./reauthentication";
import { type OnChange, Row } from "./security-row";

/** Those that sign in without the password, and the way to one more. */
export function Passkeys({ passkeys, onChange }: { passkeys: Passkey[]; onChange: OnChange }) {
  const guard = useGuard();
  const [naming, setNaming] = useState(false);
  const add = useMutation({
    mutationFn: (name: string) => guard(() => addPasskey(name)),
    onSuccess: onChange,
  });
  const remove = useMutation({
    mutationFn: (id: number) => guard(() => removePasskey(id)),
    onSuccess: () => onChange(),
  });
  return (
    <>
      <Row
        title={t`Passkeys`}
        note={t`Sign in with a finger, a face or a security key, without the password.`}
        error={add.error ?? remove.error}
      >
        {hasPasskeys() && (
          <Button
            variant="outline"
            size="sm"
            busy={add.isPending}
            aria-label={t`Add a passkey`}
            onClick={() => setNaming(true)}
          >
            <Trans>Add</Trans>
          </Button>
        )}
      </Row>
      {passkeys.map((passkey) => (
        <PasskeyRow
          key={passkey.id}
          passkey={passkey}
          busy={remove.isPending && remove.variables === passkey.id}
          onRemove={() => remove.mutate(passkey.id)}
        />
      ))}
      <Dialog open={naming} onOpenChange={setNaming} title={t`Add a passkey`}>
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            setNaming(false);
            add.mutate(String(new FormData(event.currentTarget).get("name")));
          }}
        >
          <Field
            label={t`Name`}
            name="name"
            maxLength={100}
            required
            autoFocus
            placeholder={t`My phone`}
            hint={t`So that you know later which one it is.`}
          />
          <DialogActions>
            <Button type="submit">
              <Trans>Continue</Trans>
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </>
  );
}

interface PasskeyRowProps {
  passkey: Passkey;
  busy: boolean;
  onRemove: () => void;
}

function PasskeyRow({ passkey, busy, onRemove }: PasskeyRowProps) {
  const { name } = passkey;
  const created = formatDay(passkey.created_at);
  const used = passkey.last_used_at && formatDay(passkey.last_used_at);
  return (
    <Row
      title={name}
      note={used ? t`Passkey of ${created}, used ${used}` : t`Passkey of ${created}`}
    >
      <Button
        variant="outline"
        size="sm"
        busy={busy}
        aria-label={t`Remove the passkey ${name}`}
        onClick={onRemove}
      >
        <Trans>Remove</Trans>
      </Button>
    </Row>
  );
}
