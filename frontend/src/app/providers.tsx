import { CSPProvider } from "@base-ui/react/csp-provider";
import { DirectionProvider } from "@base-ui/react/direction-provider";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError, NetworkError } from "@/api/errors";
import { direction } from "@/lib/locale";
import { meKey } from "./session";

export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    mutationCache: new MutationCache({
      onError: (error) => {
        if (isGate(error)) void client.invalidateQueries({ queryKey: meKey });
      },
    }),
    queryCache: new QueryCache({
      onError: (error) => {
        // The session has ended, in another tab or by time: the shell leads to the sign-in page.
        if (error instanceof ApiError && error.status === 401) client.setQueryData(meKey, null);
        else if (isGate(error)) void client.invalidateQueries({ queryKey: meKey });
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        refetchOnWindowFocus: false,
        // Without a network the request fails at once, and the page can say so.
        networkMode: "always",
        retry: (failures, error) => failures < 2 && isPassing(error),
      },
      mutations: { networkMode: "always" },
    },
  });
  return client;
}

const GATES = new Set<string | null>([
  "organization_suspended",
  "terms_not_accepted",
  "second_factor_required",
]);

/** Something stands before the organization: the shell shows what. */
function isGate(error: Error): boolean {
  return error instanceof ApiError && GATES.has(error.code);
}

function isPassing(error: Error): boolean {
  return error instanceof NetworkError || (error instanceof ApiError && error.status >= 502);
}

/** The page's. */
export const client = createQueryClient();

export function Providers({ children }: { children: ReactNode }) {
  return (
    <QueryClientProvider client={client}>
      {/* The CSP allows no style elements; what they would say is in our own style sheet. */}
      <CSPProvider disableStyleElements>
        {/* For arrow keys, and for what opens beside something. */}
        <DirectionProvider direction={direction()}>{children}</DirectionProvider>
      </CSPProvider>
    </QueryClientProvider>
  );
}
