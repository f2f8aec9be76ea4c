import { type FormEvent, useState } from "react";
import { Link } from "react-router";
import { createProject, listProjects, managesPeople } from "@/api/teams";
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
      title="Projects"
      description="Keys, budgets, limits and usage by what they are for. The chat page uses the default project."
      action={manages && <Button onClick={() => setCreating(true)}>Create project</Button>}
    >
      <PagedList
        label="Projects"
        queryKey={[...projectsKey, "list"]}
        load={listProjects}
        empty="You are in no project yet."
      >
        {(project) => (
          <ListRow
            key={project.id}
            title={
              <Link className="underline underline-offset-4" to={`/projects/${project.id}`}>
                {project.name}
              </Link>
            }
            note={`${project.is_default ? "Default project · " : ""}created ${formatDay(project.created_at)}`}
          />
        )}
      </PagedList>
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
    </PageLayout>
  );
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const create = useChange(projectsKey, createProject, onClose);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(name.trim());
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Create a project">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Field
          label="Name"
          required
          autoFocus
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <DialogActions>
          <Button type="submit" busy={create.isPending} disabled={!name.trim()}>
            Create project
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
