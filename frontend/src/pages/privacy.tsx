import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { errorMessage } from "@/api/errors";
import { getDataPolicy, policyKey, putTraining } from "@/api/privacy";
import type { DataPolicy } from "@/api/types";
import { useMe } from "@/app/session";
import { Checkbox } from "@/ui/checkbox";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { DeletionSection } from "./account-deletion";
import { PageLayout, Section } from "./page-layout";
import { ExportButton, ExportList } from "./privacy-exports";
import { OrganizationErasure, OrganizationPolicy } from "./privacy-organization";
import { AnswerReuse } from "./privacy-reuse";
import { Reauthentication } from "./reauthentication";

/** What is kept of one's data, a copy of it, and its end; for owners the organization's too. */
export function PrivacyPage() {
  const me = useMe();
  const { data, error } = useQuery({ queryKey: policyKey, queryFn: getDataPolicy });
  return (
    <PageLayout title={t`Data and privacy`}>
      <Reauthentication>
        {error && <Notice tone="error">{errorMessage(error)}</Notice>}
        {!data && !error && <Loading label={t`Loading`} />}
        {data && <Training policy={data} />}
        <Section title={t`A copy of your data`}>
          <p className="max-w-md text-muted-foreground text-sm">
            <Trans>
              Your chats, files, keys and usage, as JSON in a zip. Making it takes some minutes; you
              get a mail when it is ready.
            </Trans>
          </p>
          <ExportButton scope="me">
            <Trans>Ask for a copy</Trans>
          </ExportButton>
          <ExportList />
        </Section>
        {data?.may_change && <OrganizationPolicy policy={data} />}
        {data?.may_change && <AnswerReuse policy={data} />}
        {me.role === "owner" && <OrganizationErasure />}
        <DeletionSection />
      </Reauthentication>
    </PageLayout>
  );
}

function Training({ policy }: { policy: DataPolicy }) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: putTraining,
    onSuccess: (next) => client.setQueryData(policyKey, next),
  });
  const refused = !policy.allows_training;
  return (
    <Section title={t`Training`}>
      {change.error && <Notice tone="error">{errorMessage(change.error)}</Notice>}
      <Checkbox
        label={t`My feedback may improve classifiers and models`}
        hint={
          refused
            ? t`Your organization allows it for none of its chats.`
            : t`The chat around an answer that you rated; nothing else.`
        }
        checked={policy.i_allow_training && !refused}
        disabled={refused || change.isPending}
        onChange={(allowed) => change.mutate(allowed)}
      />
    </Section>
  );
}
