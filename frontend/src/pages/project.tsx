import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { managesMoney } from "@/api/billing";
import { errorMessage } from "@/api/errors";
import {
  archiveProject,
  getProject,
  listProjectKeys,
  managesPeople,
  projectName,
} from "@/api/teams";
import type { ProjectView } from "@/api/types";
import { useMe } from "@/app/session";
import { formatList } from "@/lib/numbers";
import { formatDay } from "@/lib/time";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Notice } from "@/ui/notice";
import { Loading } from "@/ui/spinner";
import { PageLayout, Section } from "./page-layout";
import { ListRow, PagedList } from "./paged-list";
import { ProjectBudget } from "./project-budget";
import { ProjectChats } from "./project-chats";
import { ProjectFiles } from "./project-files";
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
      <PageLayout title={t`Project`}>
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
  const day = formatDay(project.created_at);
  const mayArchive = managesPeople(me.role) && !project.is_default && !archived;
  return (
    <PageLayout
      title={projectName(project)}
      description={
        archived
          ? t`Archived: its keys are refused, and nothing in it changes any more.`
          : t`Created ${day}`
      }
      action={
        mayArchive && (
          <Button variant="outline" onClick={() => setArchiving(true)}>
            <Trans context="action">Archive</Trans>
          </Button>
        )
      }
    >
      {project.is_open && <ProjectChats project={project} />}
      {project.is_open && !project.is_default && <ProjectFiles project={project} />}
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
  const models = formatList(project.allowed_models);
  return (
    <Section title={t`Settings`}>
      {project.instructions && (
        <p className="whitespace-pre-wrap text-sm" dir="auto">
          {project.instructions}
        </p>
      )}
      <p className="text-sm">
        {models ? t`Models: ${models}.` : t`Models: all of the organization.`}{" "}
        {days === null
          ? t`Chats are kept until they are deleted.`
          : plural(days, {
              one: "Chats are kept # day after the last turn.",
              other: "Chats are kept # days after the last turn.",
            })}
      </p>
    </Section>
  );
}

function Keys({ projectId }: { projectId: string }) {
  return (
    <Section title={t`API keys`}>
      <PagedList
        label={t`API keys`}
        queryKey={[...projectsKey, projectId, "keys"]}
        load={listProjectKeys(projectId)}
        empty={t`There are no keys yet. They are created on the page API keys.`}
      >
        {(key) => (
          <ListRow
            key={key.id}
            title={key.name}
            note={[`${key.prefix}…`, key.created_by, lastUse(key.last_used_at)].join(" · ")}
          />
        )}
      </PagedList>
    </Section>
  );
}

function lastUse(last: string | null): string {
  if (!last) return t`never used`;
  const day = formatDay(last);
  return t`used ${day}`;
}

function ArchiveDialog({ project, onClose }: { project: ProjectView; onClose: () => void }) {
  const navigate = useNavigate();
  const { name } = project;
  const archive = useChange(projectsKey, archiveProject, () => void navigate("/projects"));
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`Archive ${name}?`}
      description={t`Its keys stop working at once; its usage stays. This can't be undone.`}
    >
      <DialogActions>
        <Button variant="outline" onClick={onClose}>
          <Trans>Keep it</Trans>
        </Button>
        <Button
          variant="danger"
          busy={archive.isPending}
          onClick={() => archive.mutate(project.id)}
        >
          <Trans>Archive project</Trans>
        </Button>
      </DialogActions>
    </Dialog>
  );
}
