import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMe } from "@/app/session";
import { Notice } from "@/ui/notice";
import { AuditLogSection } from "./audit-log";
import { DirectorySection } from "./organization-directory";
import { GroupsSection } from "./organization-groups";
import { NetworksSection } from "./organization-networks";
import { SecondFactorSection } from "./organization-second-factor";
import { SignInSection } from "./organization-sign-in";
import { PageLayout } from "./page-layout";
import { Reauthentication } from "./reauthentication";

/** How people come into the organization, for its owners; its audit log, for admins too. */
export function OrganizationSecurityPage() {
  const me = useMe();
  const { name } = me.organization;
  const isOwner = me.role === "owner";
  const reads = isOwner || me.role === "admin";
  return (
    <PageLayout
      title={t`Security & SSO`}
      description={t({ message: `Of ${name}.`, context: "organization" })}
    >
      <Reauthentication>
        {!reads && (
          <Notice tone="info">
            <Trans>Only owners and admins see this.</Trans>
          </Notice>
        )}
        {isOwner && <SignInSection />}
        {isOwner && <SecondFactorSection />}
        {isOwner && <DirectorySection />}
        {reads && <GroupsSection isOwner={isOwner} />}
        {isOwner && <NetworksSection />}
        {reads && <AuditLogSection />}
      </Reauthentication>
    </PageLayout>
  );
}
