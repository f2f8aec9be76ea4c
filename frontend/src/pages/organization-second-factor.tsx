import { plural, t } from "@lingui/core/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { errorMessage } from "@/api/errors";
import { getSignInPolicy, putSignInPolicy } from "@/api/organization-security";
import { Checkbox } from "@/ui/checkbox";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";
import { Section } from "./page-layout";
import { useGuard } from "./reauthentication";

const key = ["organization", "sign-in-policy"] as const;

/** Whether members need more than a password. */
export function SecondFactorSection() {
  const client = useQueryClient();
  const guard = useGuard();
  const policy = useQuery({ queryKey: key, queryFn: getSignInPolicy });
  const save = useMutation({
    mutationFn: (required: boolean) => guard(() => putSignInPolicy(required)),
    onSuccess: (next) => {
      client.setQueryData(key, next);
      toast(
        next.requires_second_factor
          ? t`Members need a second factor.`
          : t`A password is enough again.`,
      );
    },
  });
  const error = policy.error ?? save.error;
  return (
    <Section title={t`Second factor`}>
      {error && <Notice tone="error">{errorMessage(error)}</Notice>}
      {policy.data && (
        <Checkbox
          label={t`Members need a second factor`}
          hint={[
            without(policy.data.members_without),
            t`Who signs in through your identity provider is asked there. API keys go on.`,
          ].join(" ")}
          checked={policy.data.requires_second_factor}
          disabled={save.isPending}
          onChange={(required) => save.mutate(required)}
        />
      )}
    </Section>
  );
}

function without(members: number): string {
  if (members === 0) return t`All members have one.`;
  return plural(members, {
    one: "# member has none, and would see nothing until they add one.",
    other: "# members have none, and would see nothing until they add one.",
  });
}
