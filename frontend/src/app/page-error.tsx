import { useRouteError } from "react-router";
import { errorMessage } from "@/api/errors";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";

/** The last resort: a component or a page's code failed. A reload usually helps (a new release). */
export function PageError() {
  const error = useRouteError();
  return (
    <main className="mx-auto flex h-full max-w-xl flex-col justify-center p-6">
      <Notice
        tone="error"
        title="This page could not be shown"
        actions={
          <Button variant="outline" size="sm" onClick={() => window.location.reload()}>
            Reload
          </Button>
        }
      >
        {errorMessage(error)}
      </Notice>
    </main>
  );
}
