import type { ReactNode } from "react";
import { MobileNavButtons } from "@/app/mobile-nav";
import { useDocumentTitle } from "@/lib/document-title";

interface PageLayoutProps {
  title: string;
  description?: string;
  /** A button beside the title. */
  action?: ReactNode;
  children: ReactNode;
}

/** The frame of the pages that are no chat. */
export function PageLayout({ title, description, action, children }: PageLayoutProps) {
  useDocumentTitle(title);
  return (
    <>
      <header className="flex h-14 shrink-0 items-center px-2 md:px-3">
        <MobileNavButtons />
      </header>
      <div className="scrollbar-quiet min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto flex w-full max-w-4xl flex-col gap-8 px-4 pt-2 pb-16 md:px-8 md:pt-6">
          <div className="flex flex-wrap items-end justify-between gap-4">
            <div className="flex max-w-xl flex-col gap-1.5">
              <h1 className="font-semibold text-2xl tracking-tight">{title}</h1>
              {description && <p className="text-muted-foreground text-sm">{description}</p>}
            </div>
            {action}
          </div>
          {children}
        </div>
      </div>
    </>
  );
}

/** A titled part of such a page. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-3">
      <h2 className="font-semibold text-base">{title}</h2>
      {children}
    </section>
  );
}

/** What a page shows where nothing is yet. */
export function EmptyState({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-3 rounded-2xl border border-border border-dashed px-6 py-14 text-center text-muted-foreground text-sm [&_svg]:size-7">
      {icon}
      <div className="max-w-sm text-balance">{children}</div>
    </div>
  );
}
