import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { createInvitation, listInvitations, revokeInvitation } from "@/api/teams";
import type { Invitation, Role } from "@/api/types";
import { useMe } from "@/app/session";
import { useCopy } from "@/lib/clipboard";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field, inputClass } from "@/ui/field";
import { Select } from "@/ui/select";
import { roleOptions, roleWord } from "./organization-roles";
import { Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { useChange } from "./use-change";

const key = ["organization"] as const;

export function InvitationsSection() {
  const [inviting, setInviting] = useState(false);
  const revoke = useChange(key, revokeInvitation, t`The link no longer works.`);
  return (
    <Section title={t`Invitations`}>
      <Button className="self-start" onClick={() => setInviting(true)}>
        <Trans context="verb">Invite</Trans>
      </Button>
      <PagedList
        label={t`Invitations`}
        queryKey={[...key, "invitations"]}
        load={listInvitations}
        empty={t`Nobody was invited yet.`}
      >
        {(invitation) => (
          <InvitationRow
            key={invitation.id}
            invitation={invitation}
            busy={revoke.isPending && revoke.variables === invitation.id}
            onRevoke={() => revoke.mutate(invitation.id)}
          />
        )}
      </PagedList>
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </Section>
  );
}

interface InvitationRowProps {
  invitation: Invitation;
  busy: boolean;
  onRevoke: () => void;
}

function InvitationRow({ invitation, busy, onRevoke }: InvitationRowProps) {
  const { email, status } = invitation;
  return (
    <ListRow
      title={email ?? t({ message: "Link", context: "an invitation" })}
      note={noteOf(invitation)}
    >
      {status === "pending" && (
        <Button
          variant="outline"
          size="sm"
          busy={busy}
          aria-label={
            email ? t`Revoke the invitation of ${email}` : t`Revoke the invitation of the link`
          }
          onClick={onRevoke}
        >
          <Trans>Revoke</Trans>
        </Button>
      )}
    </ListRow>
  );
}

const STATUSES: Record<string, MessageDescriptor> = {
  pending: msg({ message: "pending", context: "an invitation" }),
  accepted: msg({ message: "accepted", context: "an invitation" }),
  expired: msg({ message: "expired", context: "an invitation" }),
  revoked: msg({ message: "revoked", context: "an invitation" }),
};

function noteOf(invitation: Invitation): string {
  const { status, role, uses, max_uses: times, expires_at, invited_by: name } = invitation;
  const day = formatDay(expires_at);
  const state = STATUSES[status];
  return [
    roleWord(role),
    state ? t(state) : status,
    times > 1 && t`used ${uses} of ${times} times`,
    status === "pending" && t`until ${day}`,
    name ? t`by ${name}` : t`by a former member`,
  ]
    .filter(Boolean)
    .join(" · ");
}

function InviteDialog({ onClose }: { onClose: () => void }) {
  const me = useMe();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const invite = useChange(key, createInvitation, (made) => made.url === null && onClose());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate({ role, ...(email.trim() && { email: email.trim() }) });
  };
  const url = invite.data?.url;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={url ? t`Your invitation link` : t`Invite to the organization`}
      description={
        url
          ? t`Hand it on yourself: it makes one person a member, works for a week, and is never shown again.`
          : t`By mail, or by a link that you hand on.`
      }
    >
      {url ? (
        <InvitationLink url={url} onDone={onClose} />
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-4">
          <Field
            label={t`E-mail`}
            type="email"
            hint={t`Leave it empty for a link.`}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
          <Select
            label={t`Role`}
            value={role}
            onChange={setRole}
            options={roleOptions().filter(({ value }) => value !== "owner" || me.role === "owner")}
          />
          <DialogActions>
            <Button type="submit" busy={invite.isPending}>
              {email.trim() ? t`Send invitation` : t`Create link`}
            </Button>
          </DialogActions>
        </form>
      )}
    </Dialog>
  );
}

function InvitationLink({ url, onDone }: { url: string; onDone: () => void }) {
  const [copied, copy] = useCopy();
  return (
    <>
      <input
        readOnly
        dir="ltr"
        aria-label={t`Invitation link`}
        value={url}
        onFocus={(event) => event.target.select()}
        className={`${inputClass} font-mono`}
      />
      <DialogActions>
        <Button variant="outline" onClick={onDone}>
          <Trans context="button">Done</Trans>
        </Button>
        <Button onClick={() => void copy(url)}>{copied ? t`Copied` : t`Copy link`}</Button>
      </DialogActions>
    </>
  );
}
