/** The sampling parameters of a chat as fields: what is left empty is the model's own default. */
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ChatParameters } from "@/api/types";
import { Field } from "@/ui/field";

const FIELDS = [
  {
    name: "temperature",
    label: msg`Temperature`,
    hint: msg`0 to 2: how freely words are chosen`,
    step: 0.1,
    min: 0,
    max: 2,
  },
  {
    name: "top_p",
    label: msg`Top p`,
    hint: msg`0 to 1: only the likeliest words`,
    step: 0.05,
    min: 0,
    max: 1,
  },
  {
    name: "max_tokens",
    label: msg`Max tokens`,
    hint: msg`The longest answer`,
    step: 1,
    min: 1,
    max: 1_000_000,
  },
  {
    name: "seed",
    label: msg`Seed`,
    hint: msg`The same seed repeats an answer`,
    step: 1,
    min: -(2 ** 53),
    max: 2 ** 53,
  },
  {
    name: "presence_penalty",
    label: msg`Presence penalty`,
    hint: msg`−2 to 2: against the same subjects`,
    step: 0.1,
    min: -2,
    max: 2,
  },
  {
    name: "frequency_penalty",
    label: msg`Frequency penalty`,
    hint: msg`−2 to 2: against the same words`,
    step: 0.1,
    min: -2,
    max: 2,
  },
] as const;

type Name = (typeof FIELDS)[number]["name"];

/** The fields as they are written, by name. */
export type WrittenParameters = Record<Name, string>;

export const written = (parameters: ChatParameters): WrittenParameters =>
  Object.fromEntries(
    FIELDS.map(({ name }) => [name, parameters[name]?.toString() ?? ""]),
  ) as WrittenParameters;

export const parametersOf = (fields: WrittenParameters): ChatParameters =>
  Object.fromEntries(
    FIELDS.map(({ name }) => [name, fields[name] === "" ? null : Number(fields[name])]),
  ) as ChatParameters;

interface ParameterFieldsProps {
  value: WrittenParameters;
  onChange: (value: WrittenParameters) => void;
}

/** Folded, because most people never need them. */
export function ParameterFields({ value, onChange }: ParameterFieldsProps) {
  return (
    <details className="rounded-xl border border-border px-4 py-3">
      <summary className="cursor-pointer font-medium text-sm">
        <Trans>Advanced</Trans>
      </summary>
      <div className="grid gap-4 pt-4 sm:grid-cols-2">
        {FIELDS.map(({ name, label, hint, ...range }) => (
          <Field
            key={name}
            type="number"
            label={t(label)}
            hint={t(hint)}
            placeholder={t({ message: "Default", context: "of a parameter" })}
            value={value[name]}
            onChange={(event) => onChange({ ...value, [name]: event.target.value })}
            {...range}
          />
        ))}
      </div>
    </details>
  );
}
