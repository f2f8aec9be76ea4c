import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Navigate } from "react-router";
import { errorMessage } from "@/api/errors";
import { deleteAccount } from "@/api/security";
import { useMe, useSetMe } from "@/app/session";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Section } from "./page-layout";
import { useGuard } from "./reauthentication";

/** The end of the account, after its address was typed. */
export function DeletionSection() {
  const { email } = useMe().user;
  const setMe = useSetMe();
  const guard = useGuard();
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const remove = useMutation({
    mutationFn: () => guard(deleteAccount),
    onSuccess: () => setMe(null),
    onError: () => setOpen(false),
  });
  if (remove.isSuccess) return <Navigate to="/login" replace />;
  return (
    <Section title={t`Delete the account`}>
      {remove.error && <Notice tone="error">{errorMessage(remove.error)}</Notice>}
      <p className="max-w-md text-muted-foreground text-sm">
        <Trans>
          You are signed out everywhere and your API keys end at once; your chats, files and shared
          links are erased within minutes. You get a certificate by mail, which also says what the
          law makes stay: invoices, and counts of usage without your name.
        </Trans>
      </p>
      <Button variant="danger" className="self-start" onClick={() => setOpen(true)}>
        <Trans>Delete the account</Trans>
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={t`Delete the account?`}
        description={t`There is no way back. Type ${email} to go on.`}
      >
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            setOpen(false);
            remove.mutate();
          }}
        >
          <Field
            label={t`Your address`}
            autoComplete="off"
            autoFocus
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <DialogActions>
            <Button variant="outline" onClick={() => setOpen(false)}>
              <Trans>Cancel</Trans>
            </Button>
            <Button type="submit" variant="danger" disabled={typed.trim() !== email}>
              <Trans>Delete for good</Trans>
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </Section>
  );
}
