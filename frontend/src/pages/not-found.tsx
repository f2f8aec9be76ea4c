import { Link } from "react-router";
import { MobileNavButtons } from "@/app/mobile-nav";
import { useDocumentTitle } from "@/lib/document-title";
import { buttonClass } from "@/ui/button";

/** Shown for what does not exist, or not for this user: the two look the same. */
export function NotFound({ what }: { what: "page" | "conversation" | "assistant" }) {
  useDocumentTitle("Not found");
  return (
    <>
      <header className="flex h-14 shrink-0 items-center px-2 md:px-3">
        <MobileNavButtons />
      </header>
      <div className="flex flex-1 flex-col items-center justify-center gap-5 p-6 text-center md:pb-[14dvh]">
        <h1 className="font-semibold text-2xl tracking-tight">This {what} doesn't exist</h1>
        <p className="max-w-sm text-balance text-muted-foreground">
          It may have been deleted, or the link is not complete.
        </p>
        <Link to="/" className={buttonClass()}>
          Start a new chat
        </Link>
      </div>
    </>
  );
}
