/** Everything behind the sign-in: the sidebar, the page, and what is common to all of them. */

import { Dialog } from "@base-ui/react/dialog";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import { Navigate, Outlet, useLocation, useMatch, useNavigate } from "react-router";
import { errorMessage } from "@/api/errors";
import { startOutbox } from "@/chat/outbox";
import { useHotkey } from "@/lib/hotkeys";
import { useOnline } from "@/lib/online";
import { SearchDialog } from "@/sidebar/search-dialog";
import { Sidebar } from "@/sidebar/sidebar";
import { Button } from "@/ui/button";
import { backdropClass } from "@/ui/dialog";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { Toaster, toast } from "@/ui/toast";
import { TipProvider } from "@/ui/tooltip";
import { Announcements } from "./announcements";
import { useServerEvents } from "./events";
import { SecondFactorGate, SuspendedGate, TermsGate } from "./gates";
import { registerServiceWorker } from "./install";
import { useLayout } from "./layout-state";
import { useAnswerNotifications } from "./notifications";
import { MeContext, useMe, useMeQuery } from "./session";
import { ShortcutsSheet } from "./shortcuts";

export function AppShell() {
  return (
    <>
      <SignedIn />
      <Toaster />
    </>
  );
}

function SignedIn() {
  const { data: me, error, isError, refetch } = useMeQuery();
  const location = useLocation();
  if (me === null) {
    const next = location.pathname === "/" ? "" : `?next=${encodeURIComponent(location.pathname)}`;
    return <Navigate to={`/login${next}`} replace />;
  }
  if (me && !location.pathname.startsWith("/settings/")) {
    if (me.pending_terms.length > 0) return <TermsGate me={me} />;
    if (me.organization.suspended) return <SuspendedGate me={me} />;
    if (me.second_factor_due) return <SecondFactorGate me={me} />;
  }
  if (me) {
    return (
      <MeContext value={me}>
        <TipProvider delay={500}>
          <Shell />
        </TipProvider>
      </MeContext>
    );
  }
  return isError ? (
    <main className="mx-auto flex h-full max-w-xl flex-col justify-center p-6">
      <Notice
        tone="offline"
        title={t`Parley can't be reached`}
        actions={
          <Button variant="outline" size="sm" onClick={() => void refetch()}>
            <Trans>Try again</Trans>
          </Button>
        }
      >
        {errorMessage(error)}
      </Notice>
    </main>
  ) : (
    <Loading label={t`Loading Parley`} />
  );
}

function Shell() {
  const { sidebarOpen, covered } = useLayout();
  const openSearch = useCallback(() => useLayout.getState().setSearch(true), []);
  const navigate = useNavigate();
  const newChat = useCallback(() => void navigate("/"), [navigate]);
  const shownId = useMatch("/c/:id")?.params.id;
  const onDeleted = useCallback(
    (id: string) => {
      if (id !== shownId) return;
      toast(t`This conversation was deleted.`);
      void navigate("/");
    },
    [navigate, shownId],
  );
  useServerEvents(onDeleted, useAnswerNotifications(useMe().user.id));
  useEffect(registerServiceWorker, []);
  const client = useQueryClient();
  useEffect(() => startOutbox(client), [client]);
  useHotkey("mod+k", openSearch);
  useHotkey("mod+shift+o", newChat);

  return (
    <div className="flex h-full">
      <a
        href="#main"
        className="sr-only z-80 rounded-lg bg-primary px-4 py-2 text-primary-foreground focus:not-sr-only focus:absolute focus:top-2 focus:start-2"
      >
        <Trans>Skip to the content</Trans>
      </a>
      {sidebarOpen && (
        <div className="hidden w-[266px] shrink-0 md:block" inert={covered}>
          <Sidebar />
        </div>
      )}
      <Drawer />
      <main id="main" tabIndex={-1} className="flex min-w-0 flex-1 flex-col outline-none">
        <OfflineBanner />
        <Announcements />
        <Outlet />
      </main>
      <SearchDialog />
      <ShortcutsSheet />
    </div>
  );
}

/** The sidebar on a phone: over the page, closed by a choice, by Escape, or by a tap beside it. */
function Drawer() {
  const { drawerOpen, setDrawer } = useLayout();
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each navigation closes it
  useEffect(() => setDrawer(false), [setDrawer, pathname]);
  return (
    <Dialog.Root open={drawerOpen} onOpenChange={setDrawer}>
      <Dialog.Portal>
        <Dialog.Backdrop className={backdropClass} />
        <Dialog.Popup
          aria-label={t`Menu`}
          className="data-ending-style:-translate-x-full data-starting-style:-translate-x-full rtl:data-ending-style:translate-x-full rtl:data-starting-style:translate-x-full fixed inset-y-0 start-0 z-50 w-[85vw] max-w-[300px] bg-sidebar shadow-2xl outline-none transition-transform duration-200"
        >
          <Sidebar inDrawer />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function OfflineBanner() {
  const online = useOnline();
  if (online) return null;
  return (
    <div className="px-3 pt-2">
      <Notice tone="offline" title={t`You are offline`} className="mx-auto max-w-3xl py-2">
        <Trans>
          Your conversations stay; what you send now waits here, and goes out when the connection is
          back.
        </Trans>
      </Notice>
    </div>
  );
}
