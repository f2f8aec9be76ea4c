import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { patchConversation } from "@/api/conversations";
import { errorMessage } from "@/api/errors";
import { projectName } from "@/api/teams";
import type { ConversationSummary } from "@/api/types";
import { patchRow, refreshLists } from "@/chat/cache";
import { useProjects } from "@/chat/chosen-project";
import { Button } from "@/ui/button";
import { Dialog, DialogActions } from "@/ui/dialog";
import { Notice } from "@/ui/notice";
import { toast } from "@/ui/toast";

/** Which project a chat is in: another one's rules and instructions hold from the next turn on. */
export default function MoveDialog({
  row,
  close,
}: {
  row: ConversationSummary;
  close: () => void;
}) {
  const client = useQueryClient();
  const { projects, standard } = useProjects();
  const [chosen, choose] = useState(row.project_id ?? standard ?? "");
  const move = useMutation({
    mutationFn: () => patchConversation(row.id, { project_id: chosen }),
    onSuccess: () => {
      patchRow(client, row.id, (shown) => ({ ...shown, project_id: chosen }));
      refreshLists(client);
      const project = projects.find(({ id }) => id === chosen);
      const name = project ? projectName(project) : "";
      toast(t`Moved to ${name}.`);
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    move.mutate();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={t`Move to a project`}
      description={t`Its instructions, models, limits and retention hold from the next message on.`}
    >
      <form onSubmit={submit} className="flex flex-col gap-4">
        {move.error && <Notice tone="error">{errorMessage(move.error)}</Notice>}
        <fieldset className="flex max-h-80 flex-col gap-1 overflow-y-auto">
          <legend className="sr-only">
            <Trans>Project</Trans>
          </legend>
          {projects.map((project) => (
            <label key={project.id} className="flex min-h-9 items-center gap-2.5 text-sm">
              <input
                type="radio"
                name="project"
                className="size-4"
                checked={chosen === project.id}
                onChange={() => choose(project.id)}
              />
              <span dir="auto">{projectName(project)}</span>
            </label>
          ))}
        </fieldset>
        <DialogActions>
          <Button variant="outline" onClick={close}>
            <Trans>Cancel</Trans>
          </Button>
          <Button type="submit" busy={move.isPending}>
            <Trans context="verb">Move</Trans>
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
