import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { listModels } from "@/api/account";
import { updateProject } from "@/api/teams";
import type { Project } from "@/api/types";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { Field } from "@/ui/field";
import { TextArea } from "@/ui/text-area";
import { Section } from "./page-layout";
import { projectsKey } from "./projects";
import { useChange } from "./use-change";

/** Name, instructions, models and retention. */
export function ProjectSettings({ project }: { project: Project }) {
  const [name, setName] = useState(project.name);
  const [days, setDays] = useState(project.retention_days?.toString() ?? "");
  const [instructions, setInstructions] = useState(project.instructions);
  const [logs, setLogs] = useState(project.logs_requests);
  const [chosen, setChosen] = useState(project.allowed_models);
  const known = useQuery({ queryKey: ["models"], queryFn: listModels });
  const save = useChange(
    projectsKey,
    () =>
      updateProject(project.id, {
        name: name.trim(),
        allowed_models: chosen,
        retention_days: days === "" ? null : Number(days),
        logs_requests: logs,
        ...(!project.is_default && { instructions }),
      }),
    t`The project is saved.`,
  );
  const names = [...new Set([...(known.data?.data.map(({ id }) => id) ?? []), ...chosen])];
  const toggle = (model: string) =>
    setChosen((models) =>
      models.includes(model) ? models.filter((each) => each !== model) : [...models, model],
    );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(undefined);
  };
  return (
    <Section title={t`Settings`}>
      <form onSubmit={submit} className="flex max-w-md flex-col gap-4">
        <Field
          label={t`Name`}
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {!project.is_default && (
          <TextArea
            label={t`Instructions`}
            hint={t`What the model reads in each chat of this project, before the person's own.`}
            maxLength={20_000}
            value={instructions}
            onChange={(event) => setInstructions(event.target.value)}
          />
        )}
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1.5 font-medium text-sm">
            <Trans>Models</Trans>
          </legend>
          {names.map((model) => (
            <label key={model} className="flex min-h-8 items-center gap-2.5 text-sm">
              <input
                type="checkbox"
                className="size-4"
                checked={chosen.includes(model)}
                onChange={() => toggle(model)}
              />
              {model}
            </label>
          ))}
          <p className="text-muted-foreground text-xs">
            <Trans>None chosen: its keys may use all.</Trans>
          </p>
        </fieldset>
        <Field
          label={t`Days that chats are kept after the last turn`}
          type="number"
          min={0}
          max={3650}
          hint={t`Empty: until they are deleted.`}
          value={days}
          onChange={(event) => setDays(event.target.value)}
        />
        <Checkbox
          label={t`Log requests of its keys`}
          hint={t`Where the organization logs them.`}
          checked={logs}
          onChange={setLogs}
        />
        <Button type="submit" className="self-start" busy={save.isPending} disabled={!name.trim()}>
          <Trans>Save</Trans>
        </Button>
      </form>
    </Section>
  );
}
