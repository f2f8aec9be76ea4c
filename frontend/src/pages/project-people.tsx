import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import {
  addProjectMember,
  createServiceAccount,
  deleteServiceAccount,
  listMembers,
  listProjectMembers,
  listServiceAccounts,
  removeProjectMember,
  setProjectRole,
} from "@/api/teams";
import type { ProjectMember, ServiceAccount } from "@/api/types";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Field, inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Select } from "@/ui/select";
import { Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { projectsKey } from "./projects";
import { roleName } from "./role-names";
import { useChange } from "./use-change";

interface PartProps {
  projectId: string;
  /** Whether who looks at it may change it. */
  manages: boolean;
}

/** Who is in the project; owners and admins of the organization manage it without being. */
export function ProjectMembers({ projectId, manages }: PartProps) {
  const key = [...projectsKey, projectId, "members"];
  const remove = useChange(key, (userId: string) => removeProjectMember(projectId, userId));
  const role = useChange(key, (change: { id: string; role: ProjectMember["role"] }) =>
    setProjectRole(projectId, change.id, change.role),
  );
  return (
    <Section title={t`Members`}>
      <PagedList
        label={t`Members of the project`}
        queryKey={key}
        load={listProjectMembers(projectId)}
        empty={t`Nobody was added. Owners and admins of the organization manage it all the same.`}
      >
        {(member) => (
          <MemberRow
            key={member.user_id}
            member={member}
            manages={manages}
            onRole={(value) => role.mutate({ id: member.user_id, role: value })}
            onRemove={() => remove.mutate(member.user_id)}
          />
        )}
      </PagedList>
      {manages && <AddMember projectId={projectId} />}
    </Section>
  );
}

interface MemberRowProps {
  member: ProjectMember;
  manages: boolean;
  onRole: (role: ProjectMember["role"]) => void;
  onRemove: () => void;
}

function MemberRow({ member, manages, onRole, onRemove }: MemberRowProps) {
  const { email, role } = member;
  return (
    <ListRow title={member.name || email} note={email}>
      {!manages && <span className="text-muted-foreground text-sm">{roleName(role)}</span>}
      {manages && (
        <>
          <Select
            quiet
            label={t`Role of ${email} in the project`}
            value={role}
            onChange={onRole}
            options={[
              { value: "owner", label: t({ message: "Owner", context: "role" }) },
              { value: "member", label: t({ message: "Member", context: "role" }) },
            ]}
          />
          <Button
            variant="outline"
            size="sm"
            aria-label={t`Remove ${email} from the project`}
            onClick={onRemove}
          >
            <Trans>Remove</Trans>
          </Button>
        </>
      )}
    </ListRow>
  );
}

/** Offers who is not in the project yet. */
function AddMember({ projectId }: { projectId: string }) {
  const key = [...projectsKey, projectId, "members"];
  const load = listProjectMembers(projectId);
  // What the list above it has read.
  const inside = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const members = useInfiniteQuery({
    queryKey: ["organization", "members"],
    queryFn: ({ pageParam }) => listMembers(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const known = new Set(
    inside.data?.pages.flatMap((page) => page.data.map((member) => member.user_id)),
  );
  const rows = members.data?.pages.flatMap((page) => page.data) ?? [];
  const others = rows.filter((row) => !known.has(row.user_id));
  const [chosen, setChosen] = useState("");
  const offered = others.find((row) => row.user_id === chosen) ?? others[0];
  const userId = offered?.user_id ?? "";
  const add = useChange(key, (id: string) => addProjectMember(projectId, id));
  if (others.length === 0 && !members.hasNextPage) return null;
  return (
    <div className="flex flex-wrap items-end gap-3">
      <Select
        label={t`Member of the organization`}
        className="h-11"
        value={userId}
        onChange={setChosen}
        options={others.map((row) => ({ value: row.user_id, label: row.name || row.email }))}
      />
      <Button
        variant="outline"
        className="h-11"
        busy={add.isPending}
        disabled={!userId}
        onClick={() => add.mutate(userId)}
      >
        <Trans>Add to the project</Trans>
      </Button>
      {members.hasNextPage && (
        <Button variant="ghost" onClick={() => void members.fetchNextPage()}>
          <Trans>Load more members</Trans>
        </Button>
      )}
    </div>
  );
}

/** Programs' accounts, whose keys outlive who made them. */
export function ServiceAccounts({ projectId, manages }: PartProps) {
  const key = [...projectsKey, projectId];
  const [name, setName] = useState("");
  const create = useChange(
    key,
    (wanted: string) => createServiceAccount(projectId, wanted),
    () => setName(""),
  );
  const remove = useChange(key, (id: string) => deleteServiceAccount(projectId, id));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(name.trim());
  };
  return (
    <Section title={t`Service accounts`}>
      <PagedList
        label={t`Service accounts`}
        queryKey={[...key, "service-accounts"]}
        load={listServiceAccounts(projectId)}
        empty={t`There is none yet. Their keys outlive who made them.`}
      >
        {(account) => (
          <AccountRow
            key={account.id}
            account={account}
            onDelete={manages ? () => remove.mutate(account.id) : undefined}
          />
        )}
      </PagedList>
      {create.data && (
        <Notice tone="info" title={t`Its key: copy it now, it is never shown again.`}>
          <input
            readOnly
            aria-label={t`Secret key of the service account`}
            value={create.data.secret}
            onFocus={(event) => event.target.select()}
            className={`${inputClass} mt-2 font-mono`}
          />
        </Notice>
      )}
      {manages && (
        <form onSubmit={submit} className="flex max-w-md flex-wrap items-end gap-3">
          <div className="min-w-0 flex-1">
            <Field
              label={t`Name of the service account`}
              required
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </div>
          <Button type="submit" variant="outline" className="h-11" busy={create.isPending}>
            <Trans>Create</Trans>
          </Button>
        </form>
      )}
    </Section>
  );
}

interface AccountRowProps {
  account: ServiceAccount;
  onDelete: (() => void) | undefined;
}

function AccountRow({ account, onDelete }: AccountRowProps) {
  const { name } = account;
  const day = formatDay(account.created_at);
  return (
    <ListRow title={name} note={t`Created ${day}`}>
      {onDelete && (
        <Button
          variant="outline"
          size="sm"
          aria-label={t`Delete ${name} and its keys`}
          onClick={onDelete}
        >
          <Trans>Delete</Trans>
        </Button>
      )}
    </ListRow>
  );
}
