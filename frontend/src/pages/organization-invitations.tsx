import { type FormEvent, useState } from "react";
import { createInvitation, listInvitations, revokeInvitation, roles } from "@/api/teams";
import type { Invitation, Role } from "@/api/types";
import { useMe } from "@/app/session";
import { useCopy } from "@/lib/clipboard";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field, inputClass } from "@/ui/field";
import { Select } from "@/ui/select";
import { Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { useChange } from "./use-change";

const key = ["organization"] as const;

export function InvitationsSection() {
  const [inviting, setInviting] = useState(false);
  const revoke = useChange(key, revokeInvitation, "The link no longer works.");
  return (
    <Section title="Invitations">
      <Button className="self-start" onClick={() => setInviting(true)}>
        Invite
      </Button>
      <PagedList
        label="Invitations"
        queryKey={[...key, "invitations"]}
        load={listInvitations}
        empty="Nobody was invited yet."
      >
        {(invitation) => (
          <ListRow key={invitation.id} title={invitation.email ?? "Link"} note={noteOf(invitation)}>
            {invitation.status === "pending" && (
              <Button
                variant="outline"
                size="sm"
                busy={revoke.isPending && revoke.variables === invitation.id}
                aria-label={`Revoke the invitation of ${invitation.email ?? "the link"}`}
                onClick={() => revoke.mutate(invitation.id)}
              >
                Revoke
              </Button>
            )}
          </ListRow>
        )}
      </PagedList>
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </Section>
  );
}

function noteOf(invitation: Invitation): string {
  const { status, role, uses, max_uses, expires_at, invited_by } = invitation;
  const used = max_uses > 1 ? ` · used ${uses} of ${max_uses} times` : "";
  const until = status === "pending" ? ` · until ${formatDay(expires_at)}` : "";
  return `${role} · ${status}${used}${until} · by ${invited_by || "a former member"}`;
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
      title={url ? "Your invitation link" : "Invite to the organization"}
      description={
        url
          ? "Hand it on yourself: it makes one person a member, works for a week, and is never shown again."
          : "By mail, or by a link that you hand on."
      }
    >
      {url ? (
        <InvitationLink url={url} onDone={onClose} />
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-4">
          <Field
            label="E-mail"
            type="email"
            hint="Leave it empty for a link."
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
          <Select
            label="Role"
            value={role}
            onChange={setRole}
            options={roles.filter(({ value }) => value !== "owner" || me.role === "owner")}
          />
          <DialogActions>
            <Button type="submit" busy={invite.isPending}>
              {email.trim() ? "Send invitation" : "Create link"}
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
        aria-label="Invitation link"
        value={url}
        onFocus={(event) => event.target.select()}
        className={`${inputClass} font-mono`}
      />
      <DialogActions>
        <Button variant="outline" onClick={onDone}>
          Done
        </Button>
        <Button onClick={() => void copy(url)}>{copied ? "Copied" : "Copy link"}</Button>
      </DialogActions>
    </>
  );
}
