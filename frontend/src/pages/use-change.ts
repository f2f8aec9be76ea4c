import { useMutation, useQueryClient } from "@tanstack/react-query";
import { errorMessage } from "@/api/errors";
import { toast } from "@/ui/toast";

/** A change after which the lists under `key` are read anew; what fails is said in a toast. */
export function useChange<Variables, Answer>(
  key: readonly unknown[],
  mutationFn: (variables: Variables) => Promise<Answer>,
  done?: string | ((answer: Answer, variables: Variables) => void),
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: (answer, variables) => {
      void client.invalidateQueries({ queryKey: key });
      if (typeof done === "string") toast(done);
      else done?.(answer, variables);
    },
    onError: (error) => toast(errorMessage(error)),
  });
}
