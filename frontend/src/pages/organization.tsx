import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { getMe } from "@/api/account";
import {
  getOrganization,
  listMembers,
  managesPeople,
  renameOrganization,
  roles,
  setMemberRole,
  transferOwnership,
} from "@/api/teams";
import type { Member, Role } from "@/api/types";
import { meKey, useMe, useSetMe } from "@/app/session";
import { Button, buttonClass } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field } from "@/ui/field";
import { Select } from "@/ui/select";
import { DomainsSection } from "./organization-domains";
import { InvitationsSection } from "./organization-invitations";
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
  const seats = detail.data?.seats;
  return (
    <PageLayout
      title={me.organization.name}
      description={
        detail.data &&
        `${detail.data.seats_taken} of ${seats ?? "any number of"} seats are taken` +
          (detail.data.invited ? `, ${detail.data.invited} more are promised by invitations.` : ".")
      }
      action={
        (me.role === "owner" || me.role === "admin") && (
          <div className="flex flex-wrap gap-2">
            <Link to="/organization/tools" className={buttonClass("outline")}>
              Tools
            </Link>
            <Link to="/organization/security" className={buttonClass("outline")}>
              Security & SSO
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

function NameSection({ name }: { name: string }) {
  const client = useQueryClient();
  const [draft, setDraft] = useState(name);
  const rename = useChange(meKey, renameOrganization, () => {
    void client.invalidateQueries({ queryKey: organizationKey });
  });
  return (
    <Section title="Name">
      <form
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate(draft.trim());
        }}
      >
        <Field
          label="Name of the organization"
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
          Save
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
    <Section title="Members">
      <PagedList
        label="Members"
        queryKey={[...organizationKey, "members"]}
        load={listMembers}
        empty="There is nobody yet."
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
    <ListRow title={self ? `${name} (you)` : name} note={member.email}>
      {mayChange ? (
        <Select
          quiet
          label={`Role of ${name}`}
          value={member.role}
          onChange={onRole}
          options={roles.map((role) => ({ ...role, disabled: role.value === "owner" && !isOwner }))}
        />
      ) : (
        <span className="text-muted-foreground text-sm capitalize">{member.role}</span>
      )}
      {isOwner && !self && member.role !== "owner" && (
        <Button
          variant="outline"
          size="sm"
          aria-label={`Hand over to ${name}`}
          onClick={onHandOver}
        >
          Hand over
        </Button>
      )}
      {(self || mayChange) && (
        <Button
          variant="outline"
          size="sm"
          aria-label={self ? "Leave the organization" : `Remove ${name}`}
          onClick={onRemove}
        >
          {self ? "Leave" : "Remove"}
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
      title={`Hand the organization over to ${name}?`}
      description={`${name} becomes its owner, and you become an admin. Only an owner can make you one again.`}
    >
      <DialogActions>
        <Button variant="outline" onClick={onClose}>
          Cancel
        </Button>
        <Button
          variant="danger"
          busy={transfer.isPending}
          onClick={() => transfer.mutate(member.user_id)}
        >
          Hand over
        </Button>
      </DialogActions>
    </Dialog>
  );
}
