import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { Link } from "react-router";
import { createProject, listProjects, managesPeople, projectName } from "@/api/teams";
import type { Project } from "@/api/types";
import { useMe } from "@/app/session";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Field } from "@/ui/field";
import { PageLayout } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { useChange } from "./use-change";

export const projectsKey = ["projects"] as const;

export function ProjectsPage() {
  const [creating, setCreating] = useState(false);
  const manages = managesPeople(useMe().role);
  return (
    <PageLayout
      title={t`Projects`}
      description={t`Keys, budgets, limits and usage by what they are for. Chats for which none is chosen are in the default project.`}
      action={
        manages && (
          <Button onClick={() => setCreating(true)}>
            <Trans>Create project</Trans>
          </Button>
        )
      }
    >
      <PagedList
        label={t`Projects`}
        queryKey={[...projectsKey, "list"]}
        load={listProjects}
        empty={t`You are in no project yet.`}
      >
        {(project) => (
          <ListRow
            key={project.id}
            title={
              <Link className="underline underline-offset-4" to={`/projects/${project.id}`}>
                {projectName(project)}
              </Link>
            }
            note={noteOf(project)}
          />
        )}
      </PagedList>
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
    </PageLayout>
  );
}

function noteOf({ is_default, created_at }: Project): string {
  const day = formatDay(created_at);
  const created = t`created ${day}`;
  return is_default ? [t`Default project`, created].join(" · ") : created;
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const create = useChange(projectsKey, createProject, onClose);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(name.trim());
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={t`Create a project`}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Field
          label={t`Name`}
          required
          autoFocus
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <DialogActions>
          <Button type="submit" busy={create.isPending} disabled={!name.trim()}>
            <Trans>Create project</Trans>
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
