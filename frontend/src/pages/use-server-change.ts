import { useMutation, useQueryClient } from "@tanstack/react-query";
import { myToolsKey } from "@/chat/cache";
import { useGuard } from "./reauthentication";

export const toolServersKey = ["organization", "tool-servers"] as const;

/** A change of the tool servers, with the password where it is asked for. */
export function useServerChange<Given>(change: (given: Given) => Promise<unknown>) {
  const client = useQueryClient();
  const guard = useGuard();
  return useMutation({
    mutationFn: (given: Given) => guard(() => change(given)),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: myToolsKey });
      return client.invalidateQueries({ queryKey: toolServersKey });
    },
  });
}
