import { Link, Navigate } from "react-router";
import { signIn } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { useMeQuery } from "@/app/session";
import { useDocumentTitle } from "@/lib/document-title";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { AuthLayout } from "./auth-layout";
import { useAuthForm } from "./use-auth-form";

export function SignInPage() {
  const { data: me } = useMeQuery();
  const { submit, busy, error, fieldError, isFieldError, search, destination } =
    useAuthForm(signIn);
  useDocumentTitle("Sign in");
  if (me) return <Navigate to={destination} replace />;
  return (
    <AuthLayout
      title="Welcome back"
      footer={
        <>
          New here?{" "}
          <Link to={`/signup${search}`} className="text-foreground underline underline-offset-4">
            Create an account
          </Link>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit(new FormData(event.currentTarget));
        }}
      >
        {error && !isFieldError && <Notice tone="error">{errorMessage(error)}</Notice>}
        <Field
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          error={fieldError("email")}
        />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          error={fieldError("password")}
        />
        <Button type="submit" className="mt-1 h-11" busy={busy}>
          Sign in
        </Button>
      </form>
    </AuthLayout>
  );
}
