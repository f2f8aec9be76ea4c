import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { errorMessage } from "@/api/errors";
import {
  createDirectoryToken,
  deleteDirectoryToken,
  getDirectory,
} from "@/api/organization-security";
import type { Directory } from "@/api/types";
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
  const url = found?.url ?? "SCIM";
  return (
    <Section title={t`Directory (SCIM)`}>
      <p className="max-w-2xl break-words text-muted-foreground text-sm">
        <Trans>
          Your directory adds and deactivates people by itself. It calls{" "}
          <span dir="ltr">{url}</span> with a token.
        </Trans>
        {found?.has_token && ` ${sent(found)}`}
      </p>
      {failed && <Notice tone="error">{errorMessage(failed)}</Notice>}
      {create.data && (
        <Notice tone="info" title={t`Copy the token now: it is shown this once.`}>
          <code className="break-all">{create.data.token}</code>
        </Notice>
      )}
      <div className="flex flex-wrap gap-2">
        <Button variant="outline" busy={create.isPending} onClick={() => create.mutate()}>
          {found?.has_token ? t`Replace the token` : t`Make a token`}
        </Button>
        {found?.has_token && (
          <Button variant="outline" busy={remove.isPending} onClick={() => remove.mutate()}>
            <Trans>Remove the token</Trans>
          </Button>
        )}
      </div>
    </Section>
  );
}

/** What came from the directory so far, and when. */
function sent({ users, groups, last_used_at }: Directory): string {
  if (!last_used_at)
    return t`It has sent ${plural(users, { one: "# user", other: "# users" })} and ${plural(groups, { one: "# group", other: "# groups" })}; the token was last used never.`;
  const day = formatDay(last_used_at);
  return t`It has sent ${plural(users, { one: "# user", other: "# users" })} and ${plural(groups, { one: "# group", other: "# groups" })}; the token was last used on ${day}.`;
}
