import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { errorMessage } from "@/api/errors";
import {
  createDirectoryToken,
  deleteDirectoryToken,
  getDirectory,
} from "@/api/organization-security";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";
import { Section } from "./page-layout";
import { useGuard } from "./reauthentication";

const key = ["organization", "scim"] as const;

/** The directory that makes and ends memberships over SCIM. */
export function DirectorySection() {
  const client = useQueryClient();
  const guard = useGuard();
  const directory = useQuery({ queryKey: key, queryFn: getDirectory });
  const again = () => client.invalidateQueries({ queryKey: key });
  const create = useMutation({
    mutationFn: () => guard(createDirectoryToken),
    onSuccess: again,
  });
  const remove = useMutation({
    mutationFn: () => guard(deleteDirectoryToken),
    onSuccess: () => {
      create.reset();
      return again();
    },
  });
  const failed = directory.error ?? create.error ?? remove.error;
  const found = directory.data;
  return (
    <Section title="Directory (SCIM)">
      <p className="max-w-2xl break-words text-muted-foreground text-sm">
        Your directory adds and deactivates people by itself. It calls {found?.url ?? "SCIM"} with a
        token.
        {found?.has_token &&
          ` It has sent ${found.users} users and ${found.groups} groups; the token was last used ${
            found.last_used_at ? `on ${formatDay(found.last_used_at)}` : "never"
          }.`}
      </p>
      {failed && <Notice tone="error">{errorMessage(failed)}</Notice>}
      {create.data && (
        <Notice tone="info" title="Copy the token now: it is shown this once.">
          <code className="break-all">{create.data.token}</code>
        </Notice>
      )}
      <div className="flex flex-wrap gap-2">
        <Button variant="outline" busy={create.isPending} onClick={() => create.mutate()}>
          {found?.has_token ? "Replace the token" : "Make a token"}
        </Button>
        {found?.has_token && (
          <Button variant="outline" busy={remove.isPending} onClick={() => remove.mutate()}>
            Remove the token
          </Button>
        )}
      </div>
    </Section>
  );
}
