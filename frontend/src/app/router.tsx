import { t } from "@lingui/core/macro";
import { createBrowserRouter, type RouteObject } from "react-router";
import { firstConversation } from "@/api/first-requests";
import { loadRest } from "@/lib/locale";
import { SignInPage } from "@/pages/sign-in";
import { SignUpPage } from "@/pages/sign-up";
import { Loading } from "@/ui/spinner";
import { PageError } from "./page-error";
import { client } from "./providers";
import { meQuery } from "./session";

/** A component, as the language is not known yet when this module is read. */
function LoadingParley() {
  return <Loading label={t`Loading Parley`} />;
}

const loading = <LoadingParley />;

/** What the document has asked for is waited for so long: then the page says what it waits for. */
const FIRST_MS = 1000;
const inTime = (read: Promise<unknown>) =>
  Promise.race([read, new Promise((resolve) => setTimeout(resolve, FIRST_MS))]);

const shell = async () => {
  const { AppShell } = await import("./app-shell");
  if (firstConversation()) await inTime(client.prefetchQuery(meQuery));
  return { Component: AppShell };
};
const newChat = async () => ({ Component: (await import("@/chat/chat-page")).ChatPage });
/** With its parser of markdown, so that no answer is seen without it. */
const chat = async () => {
  const [{ ChatPage }] = await Promise.all([
    import("@/chat/chat-page").then(async (page) => {
      await inTime(page.readFirst(client));
      return page;
    }),
    import("@/markdown/markdown").then(({ loadMarkdown }) => loadMarkdown().catch(() => undefined)),
  ]);
  return { Component: ChatPage };
};

/** Behind the sign-in; one that fails leaves the rest of the page as it is. */
const shellPages: RouteObject[] = [
  { path: "/", lazy: newChat },
  { path: "/a/:assistantId", lazy: newChat },
  { path: "/c/:id", lazy: chat },
  {
    path: "/assistants",
    lazy: async () => ({ Component: (await import("@/pages/assistants")).AssistantsPage }),
  },
  {
    path: "/archived",
    lazy: async () => ({ Component: (await import("@/pages/archived")).ArchivedPage }),
  },
  {
    path: "/chats",
    lazy: async () => ({ Component: (await import("@/pages/chats")).ChatsPage }),
  },
  {
    path: "/keys",
    lazy: async () => ({ Component: (await import("@/pages/keys")).KeysPage }),
  },
  {
    path: "/keys/:id",
    lazy: async () => ({ Component: (await import("@/pages/key")).KeyPage }),
  },
  {
    path: "/playground",
    lazy: async () => ({ Component: (await import("@/playground/playground")).PlaygroundPage }),
  },
  {
    path: "/organization",
    lazy: async () => ({ Component: (await import("@/pages/organization")).OrganizationPage }),
  },
  {
    path: "/organization/tools",
    lazy: async () => ({
      Component: (await import("@/pages/organization-tools")).OrganizationToolsPage,
    }),
  },
  {
    path: "/organization/security",
    lazy: async () => ({
      Component: (await import("@/pages/organization-security")).OrganizationSecurityPage,
    }),
  },
  {
    path: "/projects",
    lazy: async () => ({ Component: (await import("@/pages/projects")).ProjectsPage }),
  },
  {
    path: "/projects/:id",
    lazy: async () => ({ Component: (await import("@/pages/project")).ProjectPage }),
  },
  {
    path: "/usage",
    lazy: async () => ({ Component: (await import("@/pages/usage")).UsagePage }),
  },
  {
    path: "/billing",
    lazy: async () => ({ Component: (await import("@/pages/billing")).BillingPage }),
  },
  {
    path: "/settings",
    lazy: async () => ({ Component: (await import("@/pages/settings")).SettingsPage }),
  },
  {
    path: "/settings/security",
    lazy: async () => ({ Component: (await import("@/pages/security")).SecurityPage }),
  },
  {
    path: "/settings/memory",
    lazy: async () => ({ Component: (await import("@/pages/memory")).MemoryPage }),
  },
  {
    path: "/settings/privacy",
    lazy: async () => ({ Component: (await import("@/pages/privacy")).PrivacyPage }),
  },
  {
    path: "/help",
    lazy: async () => ({ Component: (await import("@/help/help-page")).HelpPage }),
  },
  {
    path: "*",
    lazy: async () => {
      const { NotFound } = await import("@/pages/not-found");
      return { element: <NotFound what="page" /> };
    },
  },
];

const otherPages: RouteObject[] = [
  {
    path: "/confirm-sign-up",
    hydrateFallbackElement: loading,
    errorElement: <PageError />,
    lazy: async () => ({
      Component: (await import("@/pages/confirm-sign-up")).ConfirmSignUpPage,
    }),
  },
  {
    path: "/confirm-address",
    hydrateFallbackElement: loading,
    errorElement: <PageError />,
    lazy: async () => ({
      Component: (await import("@/pages/confirm-address")).ConfirmAddressPage,
    }),
  },
  {
    path: "/stop-address-change",
    hydrateFallbackElement: loading,
    errorElement: <PageError />,
    lazy: async () => ({
      Component: (await import("@/pages/stop-address-change")).StopAddressChangePage,
    }),
  },
  {
    path: "/join",
    hydrateFallbackElement: loading,
    errorElement: <PageError />,
    lazy: async () => ({ Component: (await import("@/pages/join")).JoinPage }),
  },
  {
    path: "/forgot-password",
    hydrateFallbackElement: loading,
    errorElement: <PageError />,
    lazy: async () => ({
      Component: (await import("@/pages/forgot-password")).ForgotPasswordPage,
    }),
  },
  {
    path: "/reset-password",
    hydrateFallbackElement: loading,
    errorElement: <PageError />,
    lazy: async () => ({ Component: (await import("@/pages/reset-password")).ResetPasswordPage }),
  },
  {
    path: "/print/:id",
    hydrateFallbackElement: loading,
    errorElement: <PageError />,
    lazy: async () => ({ Component: (await import("@/pages/print")).PrintPage }),
  },
  {
    path: "/share/:token",
    hydrateFallbackElement: loading,
    errorElement: <PageError />,
    lazy: async () => ({ Component: (await import("@/pages/shared")).SharedPage }),
  },
  {
    lazy: shell,
    hydrateFallbackElement: loading,
    errorElement: <PageError />,
    children: [{ errorElement: <PageError within />, children: shellPages }],
  },
];

const routes: RouteObject[] = [
  { path: "/login", Component: SignInPage, errorElement: <PageError /> },
  { path: "/signup", Component: SignUpPage, errorElement: <PageError /> },
  {
    // What the others say is loaded beside them.
    lazy: async () => {
      await loadRest();
      return {};
    },
    hydrateFallbackElement: loading,
    errorElement: <PageError />,
    children: otherPages,
  },
];

type Router = ReturnType<typeof createBrowserRouter>;

/** Matches the address at once, and begins to fetch its page. */
export const createRouter = (): Router => createBrowserRouter(routes);

/** When the page of the address is there, or could not be fetched. */
export function opened(router: Router): Promise<void> {
  return new Promise((resolve) => {
    if (router.state.initialized) return resolve();
    const leave = router.subscribe(({ initialized }) => {
      if (!initialized) return;
      leave();
      resolve();
    });
  });
}
