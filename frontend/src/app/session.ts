/** Who is signed in. */
import { type Query, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, use, useCallback } from "react";
import { getMe } from "@/api/account";
import { NetworkError } from "@/api/errors";
import { forgetFailures } from "@/api/failures";
import type { Me } from "@/api/types";
import { claimDrafts, forgetDrafts } from "@/chat/drafts";
import { claimOutbox, forgetOutbox } from "@/chat/outbox-store";
import { draftSharedText } from "@/chat/shared-text";
import { forgetAllAnswers } from "@/chat/turns";
import { follow } from "@/lib/locale";
import { forgetMe, rememberedMe, rememberMe } from "./remembered-me";

export const meKey = ["me"] as const;

/** Null once it is known that no user is signed in. */
export const meQuery = queryOptions({
  queryKey: meKey,
  queryFn: readMe,
  staleTime: 60_000,
  // Without a connection it was what this browser remembers.
  refetchOnReconnect: "always",
});

export const useMeQuery = () => useQuery(meQuery);

/** A session that has ended by itself leaves drafts and failed turns to whoever signs in next. */
async function readMe(): Promise<Me | null> {
  try {
    const me = await getMe();
    if (me) giveTabTo(me);
    else {
      forgetMe();
      // What another app has shared is there after the sign-in.
      draftSharedText();
    }
    return me;
  } catch (error) {
    const last = error instanceof NetworkError && !navigator.onLine ? rememberedMe() : null;
    if (!last) throw error;
    giveTabTo(last);
    return last;
  }
}

/** Drafts and answers of this tab stay with their user; nobody else finds them. */
function giveTabTo(me: Me | null): void {
  if (me) {
    rememberMe(me);
    claimOutbox(me);
    follow(me.user.language);
  } else forgetMe();
  if (me && claimDrafts(me.user.id)) return;
  forgetAllAnswers();
  forgetFailures();
  if (!me) {
    forgetDrafts();
    void forgetOutbox();
  }
}

export const MeContext = createContext<Me | null>(null);

/** The signed-in person; only below the app shell, which shows nothing before it is known. */
export function useMe(): Me {
  const me = use(MeContext);
  if (!me) throw new Error("useMe needs the app shell above it");
  return me;
}

/** Sets the user (or null): what the last one has read is dropped. */
export function useSetMe(): (me: Me | null) => void {
  const client = useQueryClient();
  return useCallback(
    (me) => {
      giveTabTo(me);
      client.setQueryData(meKey, me);
      const others = { predicate: ({ queryKey }: Query) => queryKey[0] !== meKey[0] };
      if (me) void client.resetQueries(others);
      else client.removeQueries(others);
    },
    [client],
  );
}
