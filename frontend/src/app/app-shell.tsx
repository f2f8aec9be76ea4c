/** Everything behind the sign-in: the sidebar, the page, and what is common to all of them. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useDeferredValue, useEffect, useState } from "react";
import { Navigate, Outlet, useLocation, useMatch, useNavigate } from "react-router";
import { managesMoney } from "@/api/billing";
import { errorMessage } from "@/api/errors";
import { startOutbox } from "@/chat/outbox";
import { useHotkey } from "@/lib/hotkeys";
import { late } from "@/lib/late";
import { useMedia } from "@/lib/media";
import { useOnline } from "@/lib/online";
import { Sidebar } from "@/sidebar/sidebar";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { loadOverlaysAtFirstSign, menus } from "@/ui/overlays";
import { Loading } from "@/ui/spinner";
import { Toaster, toast } from "@/ui/toast";
import { Announcements } from "./announcements";
import { useServerEvents } from "./events";
import { SecondFactorGate, SuspendedGate, TermsGate } from "./gates";
import { registerServiceWorker } from "./install";
import { useLayout } from "./layout-state";
import { useAnswerNotifications } from "./notifications";
import { MeContext, useMe, useMeQuery } from "./session";
import { ShortcutsSheet } from "./shortcuts";

const searchDialog = late(() => import("@/sidebar/search-dialog"));
// It is a dialog with menus (menu.tsx).
const drawers = late(() =>
  Promise.all([import("./drawer"), menus.load()]).then(([drawer]) => drawer),
);

export function AppShell() {
  return (
    <>
      <SignedIn />
      <Toaster />
    </>
  );
}

function SignedIn() {
  const { data, error, isError, refetch } = useMeQuery();
  // The shell is first rendered in slices, between which the browser draws and answers a touch; it
  // leaves at once.
  const known = useDeferredValue(data !== undefined);
  const me = known ? data : undefined;
  const location = useLocation();
  if (me === null) {
    const next = location.pathname === "/" ? "" : `?next=${encodeURIComponent(location.pathname)}`;
    return <Navigate to={`/login${next}`} replace />;
  }
  if (me && !location.pathname.startsWith("/settings/")) {
    if (me.pending_terms.length > 0) return <TermsGate me={me} />;
    const pays = location.pathname === "/billing" && managesMoney(me.role);
    if (me.organization.suspended && !pays) return <SuspendedGate me={me} />;
    if (me.second_factor_due) return <SecondFactorGate me={me} />;
  }
  if (me) {
    return (
      <MeContext value={me}>
        <Shell />
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
  const wide = useMedia("(min-width: 48rem)");
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
  useEffect(loadOverlaysAtFirstSign, []);
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
      {sidebarOpen && wide && (
        <div className="w-[266px] shrink-0" inert={covered}>
          <Sidebar />
        </div>
      )}
      <main id="main" tabIndex={-1} className="flex min-w-0 flex-1 flex-col outline-none">
        <OfflineBanner />
        <Announcements />
        <Outlet />
      </main>
      <Overlays />
      <ShortcutsSheet />
    </div>
  );
}

/** What opens over the page, from the time on that it was first asked for. */
function Overlays() {
  const { searchOpen, drawerOpen, setDrawer } = useLayout();
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each navigation closes it
  useEffect(() => setDrawer(false), [setDrawer, pathname]);
  const [searched, setSearched] = useState(searchOpen);
  const [drawn, setDrawn] = useState(drawerOpen);
  if (searchOpen && !searched) setSearched(true);
  if (drawerOpen && !drawn) setDrawn(true);
  const search = searchDialog.use(searched);
  const drawer = drawers.use(drawn);
  return (
    <>
      {drawer && <drawer.Drawer />}
      {search && <search.SearchDialog />}
    </>
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
