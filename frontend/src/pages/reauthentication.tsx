/**
 * What changes the account's security asks again who it is, ten minutes after the last time: by the
 * password, and a code where the account has a second factor, or by a passkey.
 */
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useCallback, useRef, useState } from "react";
import { ApiError, errorMessage } from "@/api/errors";
import { hasPasskeys } from "@/api/passkeys";
import { getSecurity, reauthenticate, reauthenticateByPasskey } from "@/api/security";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { errorOf } from "./use-auth-form";

type Guard = <Result>(action: () => Promise<Result>) => Promise<Result>;

const GuardContext = createContext<Guard | null>(null);

/** Wraps an action: where the API asks for it, the person shows who they are, and it runs. */
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
  const { data: security } = useQuery({
    queryKey: ["security"],
    queryFn: getSecurity,
    enabled: open,
  });
  const proven = {
    onSuccess: () => {
      setOpen(false);
      question.current?.resolve();
    },
  };
  const prove = useMutation({ mutationFn: reauthenticate, ...proven });
  const byPasskey = useMutation({ mutationFn: reauthenticateByPasskey, ...proven });
  const passkeys = Boolean(security?.passkeys.length);
  const needsCode = Boolean(security?.totp) || passkeys;
  const isOfField = ["password", "code"].some((field) => errorOf(prove.error, field));
  const failure = byPasskey.error ?? (isOfField ? null : prove.error);
  const close = (next: boolean) => {
    if (next) return;
    setOpen(false);
    prove.reset();
    byPasskey.reset();
    question.current?.reject(null);
  };
  return (
    <GuardContext value={guard}>
      {children}
      <Dialog
        open={open}
        onOpenChange={close}
        title={t`Is it you?`}
        description={t`Show again that it is you before you change this.`}
      >
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            const form = new FormData(event.currentTarget);
            const code = String(form.get("code") ?? "");
            prove.mutate({ password: String(form.get("password")), ...(code && { code }) });
          }}
        >
          {failure && <Notice tone="error">{errorMessage(failure)}</Notice>}
          <Field
            label={t`Your password`}
            name="password"
            type="password"
            autoComplete="current-password"
            required
            autoFocus
            error={errorOf(prove.error, "password")}
          />
          {needsCode && (
            <Field
              label={t`Code of your authenticator app, or a recovery code`}
              name="code"
              autoComplete="one-time-code"
              maxLength={40}
              required
              error={errorOf(prove.error, "code")}
            />
          )}
          <DialogActions>
            {passkeys && hasPasskeys() && (
              <Button
                variant="outline"
                busy={byPasskey.isPending}
                onClick={() => byPasskey.mutate()}
              >
                <Trans>Use a passkey</Trans>
              </Button>
            )}
            <Button type="submit" busy={prove.isPending}>
              <Trans>Continue</Trans>
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </GuardContext>
  );
}
