import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { errorMessage } from "@/api/errors";
import { getMyTools, revokeGrant, switchTools } from "@/api/tools";
import { myToolsKey } from "@/chat/cache";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";

/** Which tools one's chats may use; nothing where the organization has none. */
export function MyToolsSection() {
  const client = useQueryClient();
  const tools = useQuery({ queryKey: myToolsKey, queryFn: getMyTools });
  const settled = () => client.invalidateQueries({ queryKey: myToolsKey });
  const change = useMutation({
    mutationFn: ({ id, on }: { id: string; on: boolean }) => switchTools(id, on),
    onError: (error) => toast(errorMessage(error)),
    onSettled: settled,
  });
  const revoke = useMutation({
    mutationFn: revokeGrant,
    onError: (error) => toast(errorMessage(error)),
    onSettled: settled,
  });
  if (tools.error) {
    return (
      <Section title="Tools">
        <Notice tone="error">{errorMessage(tools.error)}</Notice>
      </Section>
    );
  }
  const { servers = [], always = [] } = tools.data ?? {};
  if (servers.length === 0 && always.length === 0) return null;
  return (
    <Section title="Tools">
      <p className="max-w-2xl text-muted-foreground text-sm">
        What is switched on is offered to the model in your chats. You are asked before a call that
        changes something.
      </p>
      {servers.map((server) => (
        <Checkbox
          key={server.id}
          label={server.name}
          hint={server.tools.join(", ")}
          checked={server.on}
          disabled={change.isPending}
          onChange={(on) => change.mutate({ id: server.id, on })}
        />
      ))}
      {always.length > 0 && (
        <ul className="flex max-w-md flex-col gap-2" aria-label="Called without asking">
          {always.map((grant) => (
            <li key={grant.id} className="flex items-center justify-between gap-3 text-sm">
              <span>
                {grant.tool} of {grant.server} is called without asking.
              </span>
              <Button
                variant="outline"
                size="sm"
                aria-label={`Ask again before ${grant.tool}`}
                onClick={() => revoke.mutate(grant.id)}
              >
                Ask again
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
