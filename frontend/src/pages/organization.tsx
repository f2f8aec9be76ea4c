import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { getMe } from "@/api/account";
import {
  getOrganization,
  listMembers,
  managesPeople,
  renameOrganization,
  setMemberRole,
  transferOwnership,
} from "@/api/teams";
import type { Member, OrganizationDetail, Role } from "@/api/types";
import { meKey, useMe, useSetMe } from "@/app/session";
import { Button, buttonClass } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field } from "@/ui/field";
import { Select } from "@/ui/select";
import { DomainsSection } from "./organization-domains";
import { InvitationsSection } from "./organization-invitations";
import { roleName, roleOptions } from "./organization-roles";
import { PageLayout, Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { RemoveMemberDialog } from "./remove-member-dialog";
import { useChange } from "./use-change";

export const organizationKey = ["organization"] as const;

/** The organization that one works in: its people, invitations and domains. */
export function OrganizationPage() {
  const me = useMe();
  const manages = managesPeople(me.role);
  const detail = useQuery({ queryKey: [...organizationKey, "detail"], queryFn: getOrganization });
  return (
    <PageLayout
      title={me.organization.name}
      description={detail.data && seatsOf(detail.data)}
      action={
        (me.role === "owner" || me.role === "admin") && (
          <div className="flex flex-wrap gap-2">
            <Link to="/organization/tools" className={buttonClass("outline")}>
              <Trans>Tools</Trans>
            </Link>
            <Link to="/organization/security" className={buttonClass("outline")}>
              <Trans>Security & SSO</Trans>
            </Link>
          </div>
        )
      }
    >
      {manages && <NameSection key={me.organization.name} name={me.organization.name} />}
      <MembersSection />
      {manages && <InvitationsSection />}
      {manages && <DomainsSection />}
    </PageLayout>
  );
}

/** How many seats are taken and promised; `seats` is null where their number has no end. */
function seatsOf({ seats, seats_taken: taken, invited }: OrganizationDetail): string {
  if (seats === null)
    return invited
      ? t`${taken} of any number of seats are taken, ${invited} more are promised by invitations.`
      : t`${taken} of any number of seats are taken.`;
  return invited
    ? t`${taken} of ${seats} seats are taken, ${invited} more are promised by invitations.`
    : t`${taken} of ${seats} seats are taken.`;
}

function NameSection({ name }: { name: string }) {
  const client = useQueryClient();
  const [draft, setDraft] = useState(name);
  const rename = useChange(meKey, renameOrganization, () => {
    void client.invalidateQueries({ queryKey: organizationKey });
  });
  return (
    <Section title={t`Name`}>
      <form
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate(draft.trim());
        }}
      >
        <Field
          label={t`Name of the organization`}
          required
          maxLength={200}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
        />
        <Button
          type="submit"
          className="self-start"
          busy={rename.isPending}
          disabled={!draft.trim() || draft.trim() === name}
        >
          <Trans>Save</Trans>
        </Button>
      </form>
    </Section>
  );
}

function MembersSection() {
  const me = useMe();
  const setMe = useSetMe();
  const [removing, setRemoving] = useState<Member | null>(null);
  const [successor, setSuccessor] = useState<Member | null>(null);
  const change = useChange(organizationKey, ({ id, role }: { id: string; role: Role }) =>
    setMemberRole(id, role),
  );
  const removed = (member: Member) => {
    setRemoving(null);
    if (member.user_id === me.user.id) void getMe().then(setMe);
  };
  return (
    <Section title={t`Members`}>
      <PagedList
        label={t`Members`}
        queryKey={[...organizationKey, "members"]}
        load={listMembers}
        empty={t`There is nobody yet.`}
      >
        {(member) => (
          <MemberRow
            key={member.user_id}
            member={member}
            onRole={(role) => change.mutate({ id: member.user_id, role })}
            onRemove={() => setRemoving(member)}
            onHandOver={() => setSuccessor(member)}
          />
        )}
      </PagedList>
      {removing && (
        <RemoveMemberDialog
          member={removing}
          onClose={() => setRemoving(null)}
          onRemoved={() => removed(removing)}
        />
      )}
      {successor && <TransferDialog member={successor} onClose={() => setSuccessor(null)} />}
    </Section>
  );
}

interface MemberRowProps {
  member: Member;
  onRole: (role: Role) => void;
  onRemove: () => void;
  onHandOver: () => void;
}

function MemberRow({ member, onRole, onRemove, onHandOver }: MemberRowProps) {
  const me = useMe();
  const self = member.user_id === me.user.id;
  const name = member.name || member.email;
  const isOwner = me.role === "owner";
  const mayChange = managesPeople(me.role) && (isOwner || member.role !== "owner");
  return (
    <ListRow title={self ? t`${name} (you)` : name} note={member.email}>
      {/* One's own is another's to change: a slip would take the right to undo it. */}
      {mayChange && !self ? (
        <Select
          quiet
          label={t`Role of ${name}`}
          value={member.role}
          onChange={onRole}
          options={roleOptions().map((role) => ({
            ...role,
            disabled: role.value === "owner" && !isOwner,
          }))}
        />
      ) : (
        <span className="text-muted-foreground text-sm">{roleName(member.role)}</span>
      )}
      {isOwner && !self && member.role !== "owner" && (
        <Button
          variant="outline"
          size="sm"
          aria-label={t`Hand over to ${name}`}
          onClick={onHandOver}
        >
          <Trans>Hand over</Trans>
        </Button>
      )}
      {(self || mayChange) && (
        <Button
          variant="outline"
          size="sm"
          aria-label={self ? t`Leave the organization` : t`Remove ${name}`}
          onClick={onRemove}
        >
          {self ? t({ message: "Leave", context: "an organization" }) : t`Remove`}
        </Button>
      )}
    </ListRow>
  );
}

function TransferDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const setMe = useSetMe();
  const name = member.name || member.email;
  const transfer = useChange(organizationKey, transferOwnership, () => {
    onClose();
    void getMe().then(setMe);
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`Hand the organization over to ${name}?`}
      description={t`${name} becomes its owner, and you become an admin. Only an owner can make you one again.`}
    >
      <DialogActions>
        <Button variant="outline" onClick={onClose}>
          <Trans>Cancel</Trans>
        </Button>
        <Button
          variant="danger"
          busy={transfer.isPending}
          onClick={() => transfer.mutate(member.user_id)}
        >
          <Trans>Hand over</Trans>
        </Button>
      </DialogActions>
    </Dialog>
  );
}
