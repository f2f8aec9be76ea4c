import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "react-router";
import { MobileNavButtons } from "@/app/mobile-nav";
import { useDocumentTitle } from "@/lib/document-title";
import { buttonClass } from "@/ui/button";

const TITLES = {
  page: msg`This page doesn't exist`,
  conversation: msg`This conversation doesn't exist`,
  assistant: msg`This assistant doesn't exist`,
} as const;

/** Shown for what does not exist, or not for this user: the two look the same. */
export function NotFound({ what }: { what: keyof typeof TITLES }) {
  useDocumentTitle(t`Not found`);
  return (
    <>
      <header className="flex h-14 shrink-0 items-center px-2 md:px-3">
        <MobileNavButtons />
      </header>
      <div className="flex flex-1 flex-col items-center justify-center gap-5 p-6 text-center md:pb-[14dvh]">
        <h1 className="font-semibold text-2xl tracking-tight">{t(TITLES[what])}</h1>
        <p className="max-w-sm text-balance text-muted-foreground">
          <Trans>It may have been deleted, or the link is not complete.</Trans>
        </p>
        <Link to="/" className={buttonClass()}>
          <Trans>Start a new chat</Trans>
        </Link>
      </div>
    </>
  );
}
