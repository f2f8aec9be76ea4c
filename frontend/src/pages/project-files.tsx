import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { addProjectFile, listProjectFiles, removeProjectFile } from "@/api/teams";
import type { ProjectView } from "@/api/types";
import { FilesList } from "./files-list";
import { Section } from "./page-layout";
import { projectsKey } from "./projects";

/** What the model reads in every chat of a project. */
export function ProjectFiles({ project }: { project: ProjectView }) {
  const { id, manages } = project;
  return (
    <Section title={t`Files`}>
      <p className="text-muted-foreground text-sm">
        <Trans>
          The model reads them in every chat of this project, and everybody in it may open them.
        </Trans>
      </p>
      <FilesList
        queryKey={[...projectsKey, id, "files"]}
        load={() => listProjectFiles(id)}
        change={
          manages
            ? {
                add: (upload) => addProjectFile(id, upload),
                remove: (file) => removeProjectFile(id, file),
              }
            : null
        }
        empty={t`There are no files yet.`}
      />
    </Section>
  );
}
