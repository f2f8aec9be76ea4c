import { useMutation } from "@tanstack/react-query";
import { useLocation, useSearchParams } from "react-router";
import type { Credentials } from "@/api/account";
import { ApiError } from "@/api/errors";
import type { Me } from "@/api/types";
import { useSetMe } from "@/app/session";

/** Sends a sign-in or sign-up form. The page leaves for `destination` once somebody is signed in. */
export function useAuthForm(send: (credentials: Credentials) => Promise<Me>) {
  const setMe = useSetMe();
  const { search } = useLocation();
  const [params] = useSearchParams();
  const mutation = useMutation({
    mutationFn: send,
    onSuccess: setMe,
  });

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
  /** The error that belongs to the named field, if the API has said so. */
  const fieldError = (name: string) =>
    error instanceof ApiError && error.body.param === name ? error.message : undefined;
  const isFieldError = ["email", "password", "name"].some((name) => fieldError(name));
  const destination = ownPath(params.get("next"));
  return { submit, busy: mutation.isPending, error, fieldError, isFieldError, search, destination };
}

/** `next` if it is a path of ours; anything else could lead elsewhere. */
export function ownPath(next: string | null): string {
  return next && /^\/(?![/\\])/.test(next) ? next : "/";
}
