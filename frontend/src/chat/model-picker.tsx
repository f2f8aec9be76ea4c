import { Check, ChevronDown } from "lucide-react";
import type { ReactNode } from "react";
import type { Model, PendingModel } from "@/api/types";
import { Menu, MenuRadioGroup, MenuRadioItem } from "@/ui/menu";
import { isOnItsWay } from "./queries";

interface ModelPickerProps {
  models: Model[];
  pending: PendingModel[];
  value: string;
  onChange: (id: string) => void;
  /** Further items of the menu. */
  children?: ReactNode;
}

/** The models that can be chatted with, by name; the trigger shows the chosen one. */
export function ModelPicker({ models, pending, value, onChange, children }: ModelPickerProps) {
  const current = models.find((model) => model.id === value);
  const name = current?.name ?? (value || "Parley");
  return (
    <Menu
      className="min-w-72"
      trigger={
        <button
          type="button"
          aria-label={`Model: ${name}`}
          className="flex h-9 min-w-0 cursor-pointer items-center gap-1.5 rounded-lg px-3 font-medium text-base hover:bg-hover data-popup-open:bg-hover"
        >
          <span className="truncate">{name}</span>
          <ChevronDown aria-hidden className="size-4 shrink-0 text-muted-foreground" />
        </button>
      }
    >
      <MenuRadioGroup value={value} onValueChange={(id) => onChange(String(id))}>
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
      {children}
      <ModelNotes models={models} pending={pending} />
    </Menu>
  );
}

/** Under what conditions the models may be used, and why one is not there. */
function ModelNotes({ models, pending }: Pick<ModelPickerProps, "models" | "pending">) {
  const notices = models.filter(({ notice }) => notice);
  const declined = pending.filter((model) => !isOnItsWay(model));
  if (notices.length + declined.length === 0) return null;
  return (
    <div className="mt-1 max-w-80 space-y-1.5 border-border border-t px-3 pt-2 pb-1 text-muted-foreground text-xs">
      {declined.map(({ id, name, detail }) => (
        <p key={id}>
          {name} is not served: {detail}.
        </p>
      ))}
      {notices.map(({ id, license, notice }) => (
        <p key={id}>
          {notice} {license && `License: ${license}.`}
        </p>
      ))}
    </div>
  );
}

const AWAY: Record<Model["status"], string> = {
  ready: "",
  idle: " · loads when asked",
  loading: " · loading",
  unavailable: " · not available now",
};

function describe(model: Model): string {
  const context = `${Math.round(model.context_window / 1024)}k context`;
  return `${context}${sight(model)}${AWAY[model.status]}`;
}

function sight({ capabilities }: Model): string {
  if (capabilities.includes("vision")) return " · reads images";
  return capabilities.includes("ocr") ? " · reads the text in images" : "";
}

/** The models that answer in a chat. */
export const chatModels = (models: Model[]): Model[] =>
  models.filter((model) => model.capabilities.includes("chat"));
