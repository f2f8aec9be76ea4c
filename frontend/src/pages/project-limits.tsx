import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { listModels } from "@/api/account";
import { errorMessage } from "@/api/errors";
import { deleteProjectLimit, listProjectLimits, setProjectLimit } from "@/api/teams";
import type { ProjectLimit } from "@/api/types";
import { formatNumber } from "@/lib/numbers";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Select } from "@/ui/select";
import { Section } from "./page-layout";
import { ListRow } from "./paged-list";
import { projectsKey } from "./projects";
import { useChange } from "./use-change";

/** The project's own rate limits by model; the plan's bind it as well. */
export function ProjectLimits({ projectId, manages }: { projectId: string; manages: boolean }) {
  const key = [...projectsKey, projectId, "limits"];
  const limits = useQuery({ queryKey: key, queryFn: () => listProjectLimits(projectId) });
  const remove = useChange(key, (model: string) => deleteProjectLimit(projectId, model));
  return (
    <Section title={t`Rate limits`}>
      {limits.error && <Notice tone="error">{errorMessage(limits.error)}</Notice>}
      {limits.data && limits.data.length > 0 && (
        <ul className="flex flex-col overflow-hidden rounded-2xl border border-border">
          {limits.data.map((limit) => (
            <LimitRow
              key={limit.model}
              limit={limit}
              onRemove={manages ? remove.mutate : undefined}
            />
          ))}
        </ul>
      )}
      {limits.data?.length === 0 && !manages && (
        <p className="text-muted-foreground text-sm">
          <Trans>Those of the plan.</Trans>
        </p>
      )}
      {manages && <LimitForm projectId={projectId} />}
    </Section>
  );
}

interface LimitRowProps {
  limit: ProjectLimit;
  onRemove: ((model: string) => void) | undefined;
}

function LimitRow({ limit, onRemove }: LimitRowProps) {
  const { model } = limit;
  const requests = formatNumber(limit.requests_per_minute);
  const tokens = formatNumber(limit.tokens_per_minute);
  return (
    <ListRow title={model} note={t`${requests} requests and ${tokens} tokens a minute`}>
      {onRemove && (
        <Button
          variant="outline"
          size="sm"
          aria-label={t`Remove the limit of ${model}`}
          onClick={() => onRemove(model)}
        >
          <Trans>Remove</Trans>
        </Button>
      )}
    </ListRow>
  );
}

function LimitForm({ projectId }: { projectId: string }) {
  const models = useQuery({ queryKey: ["models"], queryFn: listModels });
  const [model, setModel] = useState("");
  const chosen = model || models.data?.data[0]?.id || "";
  const set = useChange([...projectsKey, projectId, "limits"], (form: FormData) =>
    setProjectLimit(projectId, chosen, {
      requests_per_minute: Number(form.get("requests")),
      tokens_per_minute: Number(form.get("tokens")),
    }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    set.mutate(new FormData(event.currentTarget));
  };
  return (
    <form onSubmit={submit} className="grid max-w-2xl items-end gap-3 sm:grid-cols-4">
      <Select
        label={t`Model`}
        className="h-11"
        value={chosen}
        onChange={setModel}
        options={(models.data?.data ?? []).map(({ id }) => ({ value: id, label: id }))}
      />
      <Field label={t`Requests a minute`} name="requests" type="number" min={1} required />
      <Field label={t`Tokens a minute`} name="tokens" type="number" min={1} required />
      <Button
        type="submit"
        variant="outline"
        className="h-11"
        busy={set.isPending}
        disabled={!chosen}
      >
        <Trans>Set limit</Trans>
      </Button>
    </form>
  );
}
