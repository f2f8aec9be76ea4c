import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { listMembers, type Removal, removeMember } from "@/api/teams";
import type { Member } from "@/api/types";
import { useMe } from "@/app/session";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Select } from "@/ui/select";
import { useChange } from "./use-change";

interface RemoveMemberDialogProps {
  member: Member;
  onClose: () => void;
  onRemoved: () => void;
}

/** Removes a member, or lets one leave, and asks what becomes of their chats and keys. */
export function RemoveMemberDialog({ member, onClose, onRemoved }: RemoveMemberDialogProps) {
  const me = useMe();
  const self = member.user_id === me.user.id;
  const name = member.name || member.email;
  const organization = me.organization.name;
  const [chats, setChats] = useState<Removal["chats"]>("keep");
  const [keys, setKeys] = useState<Removal["keys"]>("revoke");
  const [to, setTo] = useState("");
  const others = useOthers(member.user_id, chats === "hand_over");
  const receiver = to || others[0]?.user_id || "";
  const remove = useChange(
    ["organization"],
    (removal: Removal) => removeMember(member.user_id, removal),
    onRemoved,
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    remove.mutate({ chats, keys, ...(chats === "hand_over" && { chats_to: receiver }) });
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={self ? t`Leave ${organization}?` : t`Remove ${name}?`}
      description={t`Access ends at once. Say what becomes of what is theirs here.`}
    >
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Select
          label={t`Chats`}
          value={chats}
          onChange={setChats}
          options={[
            { value: "keep", label: t`Keep for when they are back` },
            { value: "hand_over", label: t`Hand over to another member` },
            { value: "delete", label: t`Delete, for good after 30 days` },
          ]}
        />
        {chats === "hand_over" && (
          <Select
            label={t`Who gets the chats`}
            value={receiver}
            onChange={setTo}
            options={others.map((other) => ({
              value: other.user_id,
              label: other.name || other.email,
            }))}
          />
        )}
        <Select
          label={t`API keys`}
          value={keys}
          onChange={setKeys}
          options={[
            { value: "revoke", label: t`Revoke: they stop working` },
            { value: "service_account", label: t`Hand over to a service account` },
          ]}
        />
        <DialogActions>
          <Button variant="outline" onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button
            type="submit"
            variant="danger"
            busy={remove.isPending}
            disabled={chats === "hand_over" && !receiver}
          >
            {self ? t({ message: "Leave", context: "an organization" }) : t`Remove`}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function useOthers(userId: string, enabled: boolean): Member[] {
  const members = useInfiniteQuery({
    queryKey: ["organization", "members"],
    queryFn: ({ pageParam }) => listMembers(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    enabled,
  });
  const rows = members.data?.pages.flatMap((page) => page.data) ?? [];
  return rows.filter((row) => row.user_id !== userId);
}
