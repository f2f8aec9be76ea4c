/** What changes the account's security asks for the password again, ten minutes after the last. */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useCallback, useRef, useState } from "react";
import { ApiError, errorMessage } from "@/api/errors";
import { reauthenticate } from "@/api/security";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field } from "@/ui/field";

type Guard = <Result>(action: () => Promise<Result>) => Promise<Result>;

const GuardContext = createContext<Guard | null>(null);

/** Wraps an action: where the API asks for it, the person enters their password, and it runs. */
export function useGuard(): Guard {
  const guard = use(GuardContext);
  if (!guard) throw new Error("useGuard needs a Reauthentication above it");
  return guard;
}

interface Question {
  resolve: () => void;
  reject: (error: unknown) => void;
}

export function Reauthentication({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const question = useRef<Question | null>(null);
  const guard = useCallback<Guard>(async (action) => {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "reauthentication_required")) throw error;
      await new Promise<void>((resolve, reject) => {
        question.current = { resolve, reject: () => reject(error) };
        setOpen(true);
      });
      return action();
    }
  }, []);
  const prove = useMutation({
    mutationFn: reauthenticate,
    onSuccess: () => {
      setOpen(false);
      question.current?.resolve();
    },
  });
  const close = (next: boolean) => {
    if (next) return;
    setOpen(false);
    prove.reset();
    question.current?.reject(null);
  };
  return (
    <GuardContext value={guard}>
      {children}
      <Dialog
        open={open}
        onOpenChange={close}
        title={t`Is it you?`}
        description={t`Enter your password before you change this.`}
      >
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            prove.mutate(String(new FormData(event.currentTarget).get("password")));
          }}
        >
          <Field
            label={t`Your password`}
            name="password"
            type="password"
            autoComplete="current-password"
            required
            autoFocus
            error={prove.error ? errorMessage(prove.error) : undefined}
          />
          <DialogActions>
            <Button type="submit" busy={prove.isPending}>
              <Trans>Continue</Trans>
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </GuardContext>
  );
}
