/** Who is signed in. */
import { type Query, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, use, useCallback } from "react";
import { getMe } from "@/api/account";
import type { Me } from "@/api/types";
import { forgetAllAnswers } from "@/chat/turns";

export const meKey = ["me"] as const;

/** Null once it is known that no user is signed in. */
export function useMeQuery() {
  return useQuery({ queryKey: meKey, queryFn: getMe, staleTime: 60_000 });
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
      client.setQueryData(meKey, me);
      forgetAllAnswers();
      const others = { predicate: ({ queryKey }: Query) => queryKey[0] !== meKey[0] };
      if (me) void client.resetQueries(others);
      else client.removeQueries(others);
    },
    [client],
  );
}
