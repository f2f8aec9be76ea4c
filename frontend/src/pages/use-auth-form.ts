import { useMutation } from "@tanstack/react-query";
import { useLocation, useSearchParams } from "react-router";
import type { Credentials } from "@/api/account";
import { ApiError } from "@/api/errors";

/** Sends a sign-in or sign-up form, and tells which field an error belongs to. */
export function useAuthForm<Answer>(
  send: (credentials: Credentials) => Promise<Answer>,
  onSuccess?: (answer: Answer) => void,
) {
  const { search } = useLocation();
  const mutation = useMutation({ mutationFn: send, ...(onSuccess && { onSuccess }) });

  const submit = (form: FormData) => {
    const field = (name: string) => String(form.get(name) ?? "");
    const name = field("name");
    mutation.mutate({
      email: field("email"),
      password: field("password"),
      ...(name && { name }),
    });
  };
  const { error } = mutation;
  const isFieldError = ["email", "password", "name"].some((name) => errorOf(error, name));
  return {
    submit,
    busy: mutation.isPending,
    error,
    fieldError: (name: string) => errorOf(error, name),
    isFieldError,
    search,
    sent: mutation.isSuccess ? { answer: mutation.data, to: mutation.variables.email } : null,
  };
}

/** The error that belongs to the named field, if the API has said so. */
export function errorOf(error: unknown, field: string): string | undefined {
  return error instanceof ApiError && error.body.param === field ? error.message : undefined;
}

/** Where a user who signs in was going: `next`, if it is a path of ours. */
export function useDestination(): string {
  const [params] = useSearchParams();
  return ownPath(params.get("next"));
}

/** `next` if it is a path of ours; anything else could lead elsewhere. */
export function ownPath(next: string | null): string {
  return next && /^\/(?![/\\])/.test(next) ? next : "/";
}
