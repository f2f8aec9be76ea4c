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
import type { ProjectMember } from "@/api/types";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Field, inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Select } from "@/ui/select";
import { Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { projectsKey } from "./projects";
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
    <Section title="Members">
      <PagedList
        label="Members of the project"
        queryKey={key}
        load={listProjectMembers(projectId)}
        empty="Nobody was added. Owners and admins of the organization manage it all the same."
      >
        {(member) => (
          <ListRow key={member.user_id} title={member.name || member.email} note={member.email}>
            {!manages && <span className="text-muted-foreground text-sm">{member.role}</span>}
            {manages && (
              <>
                <Select
                  quiet
                  label={`Role of ${member.email} in the project`}
                  value={member.role}
                  onChange={(value) => role.mutate({ id: member.user_id, role: value })}
                  options={[
                    { value: "owner", label: "Owner" },
                    { value: "member", label: "Member" },
                  ]}
                />
                <Button
                  variant="outline"
                  size="sm"
                  aria-label={`Remove ${member.email} from the project`}
                  onClick={() => remove.mutate(member.user_id)}
                >
                  Remove
                </Button>
              </>
            )}
          </ListRow>
        )}
      </PagedList>
      {manages && <AddMember projectId={projectId} />}
    </Section>
  );
}

function AddMember({ projectId }: { projectId: string }) {
  const members = useInfiniteQuery({
    queryKey: ["organization", "members"],
    queryFn: ({ pageParam }) => listMembers(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const rows = members.data?.pages.flatMap((page) => page.data) ?? [];
  const [chosen, setChosen] = useState("");
  const userId = chosen || rows[0]?.user_id || "";
  const add = useChange([...projectsKey, projectId, "members"], (id: string) =>
    addProjectMember(projectId, id),
  );
  return (
    <div className="flex flex-wrap items-end gap-3">
      <Select
        label="Member of the organization"
        className="h-11"
        value={userId}
        onChange={setChosen}
        options={rows.map((row) => ({ value: row.user_id, label: row.name || row.email }))}
      />
      <Button
        variant="outline"
        className="h-11"
        busy={add.isPending}
        disabled={!userId}
        onClick={() => add.mutate(userId)}
      >
        Add to the project
      </Button>
      {members.hasNextPage && (
        <Button variant="ghost" onClick={() => void members.fetchNextPage()}>
          Load more members
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
    <Section title="Service accounts">
      <PagedList
        label="Service accounts"
        queryKey={[...key, "service-accounts"]}
        load={listServiceAccounts(projectId)}
        empty="There is none yet. Their keys outlive who made them."
      >
        {(account) => (
          <ListRow
            key={account.id}
            title={account.name}
            note={`Created ${formatDay(account.created_at)}`}
          >
            {manages && (
              <Button
                variant="outline"
                size="sm"
                aria-label={`Delete ${account.name} and its keys`}
                onClick={() => remove.mutate(account.id)}
              >
                Delete
              </Button>
            )}
          </ListRow>
        )}
      </PagedList>
      {create.data && (
        <Notice tone="info" title="Its key: copy it now, it is never shown again.">
          <input
            readOnly
            aria-label="Secret key of the service account"
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
              label="Name of the service account"
              required
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </div>
          <Button type="submit" variant="outline" className="h-11" busy={create.isPending}>
            Create
          </Button>
        </form>
      )}
    </Section>
  );
}
