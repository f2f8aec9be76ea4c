import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { errorMessage } from "@/api/errors";
import { getGroupRules, putGroupRules } from "@/api/organization-security";
import { allProjects } from "@/api/teams";
import type { GroupRule, GroupRules, Project } from "@/api/types";
import { Button } from "@/ui/button";
import { inputClass } from "@/ui/field";
import { IconButton } from "@/ui/icon-button";
import { Notice } from "@/ui/notice";
import { Select } from "@/ui/select";
import { Loading } from "@/ui/spinner";
import { toast } from "@/ui/toast";
import { roleWord } from "./organization-roles";
import { Section } from "./page-layout";
import { useGuard } from "./reauthentication";

const key = ["organization", "group-rules"] as const;

/** What groups of the identity provider or the directory give. */
export function GroupsSection({ isOwner }: { isOwner: boolean }) {
  const rules = useQuery({ queryKey: key, queryFn: getGroupRules });
  const projects = useQuery({
    queryKey: ["organization", "group-projects"],
    queryFn: allProjects,
  });
  const failed = rules.error ?? projects.error;
  return (
    <Section title={t`Groups`}>
      <p className="max-w-2xl text-muted-foreground text-sm">
        <Trans>
          Who is in a group of your directory or identity provider gets a role, or a place in a
          project, and loses it with the group. Owners made by hand stay owners.
        </Trans>
      </p>
      {failed && <Notice tone="error">{errorMessage(failed)}</Notice>}
      {(rules.isPending || projects.isPending) && <Loading label={t`Loading the groups`} />}
      {rules.data && projects.data && (
        <RulesForm
          key={JSON.stringify(rules.data.rules)}
          found={rules.data}
          projects={projects.data}
          isOwner={isOwner}
        />
      )}
    </Section>
  );
}

/** `id` only tells rows apart while they are edited. */
type Row = { id: number; group: string; gives: string };

function RulesForm({
  found,
  projects,
  isOwner,
}: {
  found: GroupRules;
  projects: Project[];
  isOwner: boolean;
}) {
  const client = useQueryClient();
  const guard = useGuard();
  const id = useId();
  const [rows, setRows] = useState<Row[]>(
    found.rules.map((rule, index) => ({ id: index, group: rule.group, gives: givenBy(rule) })),
  );
  const save = useMutation({
    mutationFn: () => guard(() => putGroupRules(rows.map(ruleOf))),
    onSuccess: (next) => {
      client.setQueryData(key, next);
      toast(t`The groups are saved.`);
    },
  });
  const change = (row: Row, part: Partial<Row>) =>
    setRows((all) => all.map((one) => (one.id === row.id ? { ...one, ...part } : one)));
  const options = optionsOf(projects, isOwner, rows);
  return (
    <form
      className="flex max-w-xl flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      {save.error && <Notice tone="error">{errorMessage(save.error)}</Notice>}
      <datalist id={`${id}-known`}>
        {found.known_groups.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {rows.map((row, index) => (
        <RuleRow
          key={row.id}
          row={row}
          number={index + 1}
          known={`${id}-known`}
          options={options}
          onChange={(part) => change(row, part)}
          onRemove={() => setRows((all) => all.filter((one) => one.id !== row.id))}
        />
      ))}
      <div className="flex flex-wrap gap-2">
        <Button
          variant="outline"
          onClick={() =>
            setRows((all) => [
              ...all,
              { id: Math.max(-1, ...all.map((one) => one.id)) + 1, group: "", gives: "member" },
            ])
          }
        >
          <Trans>Add a group</Trans>
        </Button>
        <Button type="submit" busy={save.isPending}>
          <Trans>Save the groups</Trans>
        </Button>
      </div>
    </form>
  );
}

interface RuleRowProps {
  row: Row;
  /** Which row it is, from 1. */
  number: number;
  /** The id of the list of known groups. */
  known: string;
  options: { value: string; label: string }[];
  onChange: (part: Partial<Row>) => void;
  onRemove: () => void;
}

function RuleRow({ row, number, known, options, onChange, onRemove }: RuleRowProps) {
  return (
    <div className="flex flex-wrap items-center gap-2">
      <input
        required
        maxLength={200}
        list={known}
        aria-label={t`Group ${number}`}
        placeholder={t`Group`}
        className={`${inputClass} min-w-40 flex-1`}
        value={row.group}
        onChange={(event) => onChange({ group: event.target.value })}
      />
      <Select
        quiet
        label={t`Group ${number} gives`}
        value={row.gives}
        onChange={(gives) => onChange({ gives })}
        options={options}
      />
      <IconButton label={t`Remove group ${number}`} onClick={onRemove}>
        <Trash2 aria-hidden className="size-4" />
      </IconButton>
    </div>
  );
}

const ROLES = ["admin", "member", "finance", "viewer"];

/** A role by its name, a place in a project as `project:role`. */
function givenBy(rule: GroupRules["rules"][number]): string {
  return rule.project_id ? `${rule.project_id}:${rule.project_role}` : (rule.role ?? "member");
}

function ruleOf({ group, gives }: Row): GroupRule {
  const [project, role] = gives.split(":");
  return role
    ? { group, role: null, project_id: project ?? null, project_role: role as "owner" | "member" }
    : { group, role: gives as GroupRule["role"], project_id: null, project_role: null };
}

function optionsOf(projects: Project[], isOwner: boolean, rows: Row[]) {
  const isUsed = rows.some((row) => row.gives === "owner");
  const roles = isOwner || isUsed ? ["owner", ...ROLES] : ROLES;
  return [
    ...roles.map((value) => {
      const role = roleWord(value);
      return { value, label: t`Role ${role}` };
    }),
    ...projects.flatMap(({ id, name }) => [
      { value: `${id}:member`, label: t`Member of ${name}` },
      { value: `${id}:owner`, label: t`Owner of ${name}` },
    ]),
  ];
}
