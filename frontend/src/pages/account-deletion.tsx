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
  const me = useMe();
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
    <Section title="Delete the account">
      {remove.error && <Notice tone="error">{errorMessage(remove.error)}</Notice>}
      <p className="max-w-md text-muted-foreground text-sm">
        You are signed out everywhere and your API keys end at once; your chats, files and shared
        links are erased within minutes. You get a certificate by mail, which also says what the law
        makes stay: invoices, and counts of usage without your name.
      </p>
      <Button variant="danger" className="self-start" onClick={() => setOpen(true)}>
        Delete the account
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Delete the account?"
        description={`There is no way back. Type ${me.user.email} to go on.`}
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
            label="Your address"
            autoComplete="off"
            autoFocus
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <DialogActions>
            <Button variant="outline" onClick={() => setOpen(false)}>
              Cancel
            </Button>
            <Button type="submit" variant="danger" disabled={typed.trim() !== me.user.email}>
              Delete for good
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </Section>
  );
}
