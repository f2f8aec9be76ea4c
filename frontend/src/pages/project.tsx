import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { managesMoney } from "@/api/billing";
import { errorMessage } from "@/api/errors";
import { archiveProject, getProject, listProjectKeys, managesPeople } from "@/api/teams";
import type { ProjectView } from "@/api/types";
import { useMe } from "@/app/session";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { PageLayout, Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { ProjectBudget } from "./project-budget";
import { ProjectChats } from "./project-chats";
import { ProjectLimits } from "./project-limits";
import { ProjectMembers, ServiceAccounts } from "./project-people";
import { ProjectSettings } from "./project-settings";
import { projectsKey } from "./projects";
import { useChange } from "./use-change";

/** One project: what it may use, who is in it, its keys and its budget. */
export function ProjectPage() {
  const { id = "" } = useParams();
  const project = useQuery({
    queryKey: [...projectsKey, id],
    queryFn: () => getProject(id),
    retry: false,
  });
  if (project.isPending) return <Loading />;
  if (!project.data) {
    return (
      <PageLayout title="Project">
        <Notice tone="error">{errorMessage(project.error)}</Notice>
      </PageLayout>
    );
  }
  return <ProjectSections key={id} project={project.data} />;
}

function ProjectSections({ project }: { project: ProjectView }) {
  const me = useMe();
  const [archiving, setArchiving] = useState(false);
  const archived = project.archived_at !== null;
  const mayArchive = managesPeople(me.role) && !project.is_default && !archived;
  return (
    <PageLayout
      title={project.name}
      description={
        archived
          ? "Archived: its keys are refused, and nothing in it changes any more."
          : `Created ${formatDay(project.created_at)}`
      }
      action={
        mayArchive && (
          <Button variant="outline" onClick={() => setArchiving(true)}>
            Archive
          </Button>
        )
      }
    >
      <ProjectChats project={project} />
      {project.manages ? <ProjectSettings project={project} /> : <Rules project={project} />}
      {!archived && <ProjectLimits projectId={project.id} manages={project.manages} />}
      {managesMoney(me.role) && <ProjectBudget projectId={project.id} />}
      <ProjectMembers projectId={project.id} manages={project.manages} />
      <ServiceAccounts projectId={project.id} manages={project.manages} />
      <Keys projectId={project.id} />
      {archiving && <ArchiveDialog project={project} onClose={() => setArchiving(false)} />}
    </PageLayout>
  );
}

/** What binds who is in it, for those who do not manage it. */
function Rules({ project }: { project: ProjectView }) {
  const days = project.retention_days;
  return (
    <Section title="Settings">
      {project.instructions && (
        <p className="whitespace-pre-wrap text-sm" dir="auto">
          {project.instructions}
        </p>
      )}
      <p className="text-sm">
        Models: {project.allowed_models.join(", ") || "all of the organization"}. Chats are kept{" "}
        {days === null ? "until they are deleted" : `${days} days after the last turn`}.
      </p>
    </Section>
  );
}

function Keys({ projectId }: { projectId: string }) {
  return (
    <Section title="API keys">
      <PagedList
        label="API keys"
        queryKey={[...projectsKey, projectId, "keys"]}
        load={listProjectKeys(projectId)}
        empty="There are no keys yet. They are created on the page API keys."
      >
        {(key) => (
          <ListRow
            key={key.id}
            title={key.name}
            note={`${key.prefix}… · ${key.created_by} · ${key.last_used_at ? `used ${formatDay(key.last_used_at)}` : "never used"}`}
          />
        )}
      </PagedList>
    </Section>
  );
}

function ArchiveDialog({ project, onClose }: { project: ProjectView; onClose: () => void }) {
  const navigate = useNavigate();
  const archive = useChange(projectsKey, archiveProject, () => void navigate("/projects"));
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Archive ${project.name}?`}
      description="Its keys stop working at once; its usage stays. This can't be undone."
    >
      <DialogActions>
        <Button variant="outline" onClick={onClose}>
          Keep it
        </Button>
        <Button
          variant="danger"
          busy={archive.isPending}
          onClick={() => archive.mutate(project.id)}
        >
          Archive project
        </Button>
      </DialogActions>
    </Dialog>
  );
}
