import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Play, Square } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { modelForNewChat, useChosenModel } from "@/chat/chosen-model";
import { useModelList } from "@/chat/queries";
import { cn } from "@/lib/cn";
import { PageLayout } from "@/pages/page-layout";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { Field, inputClass } from "@/ui/field";
import { Notice } from "@/ui/notice";
import { Select } from "@/ui/select";
import { type Body, bodyOf, EMPTY, type Settings } from "./body";
import { CodeSection } from "./code";
import { ResultSection } from "./result";
import { useRun } from "./use-run";

type Change = (patch: Partial<Settings>) => void;

/** One request to a model, by hand: what it gives, what it costs, and the same as a program. */
export function PlaygroundPage() {
  const models = useModelList().data;
  const { chosen } = useChosenModel();
  const [settings, setSettings] = useState<Settings>(EMPTY);
  const { run, running, error, start, stop, fail } = useRun();
  const model = modelForNewChat(models, settings.model || chosen);
  const asked = { ...settings, model: model?.id ?? "auto" };
  const body = valid(asked);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (running) return stop();
    if (typeof body === "string") return fail(body);
    void start(body);
  };
  return (
    <PageLayout
      title={t`Playground`}
      description={t`Ask a model as your programs would. Each request is checked, counted and billed like theirs.`}
    >
      <form onSubmit={send} className="flex flex-col gap-4">
        <Select
          label={t`Model`}
          value={asked.model}
          onChange={(id) => setSettings({ ...settings, model: id })}
          options={models.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <Inputs settings={settings} change={(patch) => setSettings({ ...settings, ...patch })} />
        <div>
          <Button type="submit" variant={running ? "outline" : "primary"}>
            {running ? (
              <Square aria-hidden className="size-4" />
            ) : (
              <Play aria-hidden className="size-4" />
            )}
            {running ? t`Stop` : t({ message: "Run", context: "action" })}
          </Button>
        </div>
      </form>
      {error && <Notice tone="error">{error}</Notice>}
      {run && <ResultSection run={run} model={model} />}
      {typeof body !== "string" && <CodeSection body={body} />}
    </PageLayout>
  );
}

/** The body of a request, or why there is none. */
function valid(settings: Settings): Body | string {
  try {
    return bodyOf(settings);
  } catch (error) {
    return error instanceof SyntaxError ? error.message : t`This cannot be sent.`;
  }
}

function Inputs({ settings, change }: { settings: Settings; change: Change }) {
  return (
    <>
      <Area
        label={t`System prompt`}
        rows={2}
        value={settings.system}
        onChange={(system) => change({ system })}
      />
      <Area
        label={t({ message: "Prompt", context: "noun" })}
        rows={4}
        required
        value={settings.prompt}
        onChange={(prompt) => change({ prompt })}
      />
      <div className="grid grid-cols-2 gap-4 md:grid-cols-3">
        <Num
          label={t`Temperature`}
          max={2}
          step={0.1}
          value={settings.temperature}
          onChange={(temperature) => change({ temperature })}
        />
        <Num
          label={t`Top p`}
          max={1}
          step={0.05}
          value={settings.topP}
          onChange={(topP) => change({ topP })}
        />
        <Num
          label={t`Most output tokens`}
          min={1}
          step={1}
          value={settings.maxTokens}
          onChange={(maxTokens) => change({ maxTokens })}
        />
      </div>
      <details className="text-sm">
        <summary className="cursor-pointer py-1 font-medium">
          <Trans>Tools and schema</Trans>
        </summary>
        <div className="mt-3 flex flex-col gap-4">
          <Area
            code
            label={t`Tools (JSON list)`}
            rows={4}
            value={settings.tools}
            onChange={(tools) => change({ tools })}
          />
          <Area
            code
            label={t`Schema of the answer (JSON)`}
            rows={4}
            value={settings.schema}
            onChange={(schema) => change({ schema })}
          />
        </div>
      </details>
      <Checkbox
        label={t`Chances of each token`}
        checked={settings.logprobs}
        onChange={(logprobs) => change({ logprobs })}
      />
    </>
  );
}

interface AreaProps {
  label: string;
  value: string;
  rows: number;
  code?: boolean;
  required?: boolean;
  onChange: (value: string) => void;
}

function Area({ label, value, rows, code = false, required = false, onChange }: AreaProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="font-medium text-sm">
        {label}
      </label>
      <textarea
        id={id}
        rows={rows}
        value={value}
        required={required}
        onChange={(event) => onChange(event.target.value)}
        dir={code ? "ltr" : "auto"}
        className={cn(inputClass, "h-auto py-2.5", code && "font-mono")}
      />
    </div>
  );
}

interface NumProps {
  label: string;
  value: string;
  min?: number;
  max?: number;
  step: number;
  onChange: (value: string) => void;
}

function Num({ label, value, min = 0, max, step, onChange }: NumProps) {
  return (
    <Field
      label={label}
      type="number"
      inputMode="decimal"
      min={min}
      step={step}
      {...(max !== undefined && { max })}
      placeholder={t({ message: "the model's", context: "setting" })}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
