import type { MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Check, ChevronDown, Columns2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Model, PendingModel } from "@/api/types";
import { Menu, MenuItem, MenuRadioGroup, MenuRadioItem } from "@/ui/menu";
import { CompareDialog } from "./compare-dialog";
import { isOnItsWay } from "./queries";

interface ModelPickerProps {
  models: Model[];
  pending: PendingModel[];
  value: string;
  onChange: (id: string) => void;
  /** The models that answer the next message side by side; null where one answers alone. */
  comparing?: { value: string[]; onChange: (ids: string[]) => void } | null;
  /** Further items of the menu. */
  children?: ReactNode;
}

/** The models that can be chatted with, by name; the trigger shows the chosen one. */
export function ModelPicker(props: ModelPickerProps) {
  const { models, pending, value, onChange, comparing = null, children } = props;
  const [choosing, setChoosing] = useState(false);
  const current = models.find((model) => model.id === value);
  const count = comparing?.value.length ?? 0;
  const name =
    count > 1
      ? plural(count, { one: "# model", other: "# models" })
      : (current?.name ?? (value || "Parley"));
  return (
    <>
      <Menu
        className="min-w-72"
        trigger={
          <button
            type="button"
            aria-label={t`Model: ${name}`}
            className="flex h-9 min-w-0 cursor-pointer items-center gap-1.5 rounded-lg px-3 font-medium text-base hover:bg-hover data-popup-open:bg-hover"
          >
            <span dir="auto" className="truncate">
              {name}
            </span>
            <ChevronDown aria-hidden className="size-4 shrink-0 text-muted-foreground" />
          </button>
        }
      >
        <MenuRadioGroup
          value={count > 1 ? "" : value}
          onValueChange={(id) => {
            comparing?.onChange([]);
            onChange(String(id));
          }}
        >
          {models.map((model) => (
            <MenuRadioItem
              key={model.id}
              value={model.id}
              label={model.name}
              description={describe(model)}
              indicator={<Check aria-hidden />}
            />
          ))}
        </MenuRadioGroup>
        {comparing && models.length > 1 && (
          <MenuItem icon={<Columns2 aria-hidden />} onSelect={() => setChoosing(true)}>
            <Trans>Compare models</Trans>
          </MenuItem>
        )}
        {children}
        <ModelNotes models={models} pending={pending} />
      </Menu>
      {comparing && (
        <CompareDialog
          models={models}
          first={value}
          comparing={comparing}
          open={choosing}
          onOpenChange={setChoosing}
        />
      )}
    </>
  );
}

/** The server's own words, which are English. */
const Said = ({ children }: { children: ReactNode }) => (
  <bdi lang="en" dir="ltr">
    {children}
  </bdi>
);

/** Under what conditions the models may be used, and why one is not there. */
function ModelNotes({ models, pending }: Pick<ModelPickerProps, "models" | "pending">) {
  const notices = models.filter(({ notice }) => notice);
  const declined = pending.filter((model) => !isOnItsWay(model));
  if (notices.length + declined.length === 0) return null;
  return (
    <div className="mt-1 max-w-80 space-y-1.5 border-border border-t px-3 pt-2 pb-1 text-muted-foreground text-xs">
      {declined.map(({ id, name, detail }) => (
        <p key={id}>
          <Trans>
            {name} is not served: <Said>{detail}</Said>.
          </Trans>
        </p>
      ))}
      {notices.map(({ id, license, notice }) => (
        <p key={id}>
          <Said>{notice}</Said> {license && t`License: ${license}.`}
        </p>
      ))}
    </div>
  );
}

const AWAY: Record<Model["status"], MessageDescriptor | null> = {
  ready: null,
  idle: msg`loads when asked`,
  loading: msg({ message: "loading", context: "state of a model" }),
  unavailable: msg`not available now`,
};

function describe(model: Model): string {
  const size = Math.round(model.context_window / 1024);
  const away = AWAY[model.status];
  return [t`${size}k context`, sight(model), away && t(away)].filter(Boolean).join(" · ");
}

function sight({ capabilities }: Model): string | null {
  if (capabilities.includes("vision")) return t`reads images`;
  return capabilities.includes("ocr") ? t`reads the text in images` : null;
}

/** The models that answer in a chat. */
export const chatModels = (models: Model[]): Model[] =>
  models.filter((model) => model.capabilities.includes("chat"));
