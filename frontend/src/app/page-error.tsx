import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useRouteError } from "react-router";
import { errorMessage } from "@/api/errors";
import { HelpLink } from "@/help/link";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";

/**
 * The last resort: a component or a page's code failed. A reload usually helps (a new release).
 * `within` the shell only the page is replaced, and the sidebar still works.
 */
export function PageError({ within = false }: { within?: boolean }) {
  const error = useRouteError();
  const Frame = within ? "div" : "main";
  return (
    <Frame className="mx-auto flex h-full max-w-xl flex-col justify-center p-6">
      <Notice
        tone="error"
        title={t`This page could not be shown`}
        actions={
          <>
            <Button variant="outline" size="sm" onClick={() => window.location.reload()}>
              <Trans>Reload</Trans>
            </Button>
            <HelpLink topic="page" anew />
          </>
        }
      >
        {errorMessage(error)}
      </Notice>
    </Frame>
  );
}
