import { t } from "@lingui/core/macro";
import { Check, Folder } from "lucide-react";
import { projectName } from "@/api/teams";
import type { Project } from "@/api/types";
import { Menu, MenuRadioGroup, MenuRadioItem } from "@/ui/menu";

interface ProjectPickerProps {
  projects: Project[];
  value: string | null;
  onChange: (id: string) => void;
}

/** Whose limits, budget, models and retention hold for this chat; nothing where there is one. */
export function ProjectPicker({ projects, value, onChange }: ProjectPickerProps) {
  const current = projects.find((project) => project.id === value);
  if (projects.length < 2 && current) return null;
  if (projects.length === 0) return null;
  const name = current ? projectName(current) : t`Choose a project`;
  return (
    <Menu
      className="min-w-56"
      trigger={
        <button
          type="button"
          aria-label={t`Project: ${name}`}
          className="flex h-9 min-w-0 cursor-pointer items-center gap-1.5 rounded-lg px-2 text-muted-foreground text-sm hover:bg-hover data-popup-open:bg-hover"
        >
          <Folder aria-hidden className="size-4 shrink-0" />
          <span dir="auto" className="max-w-32 truncate max-sm:sr-only">
            {name}
          </span>
        </button>
      }
    >
      <MenuRadioGroup value={value ?? ""} onValueChange={(id) => onChange(String(id))}>
        {projects.map((project) => (
          <MenuRadioItem
            key={project.id}
            value={project.id}
            label={projectName(project)}
            description={project.is_default ? t`The default` : undefined}
            indicator={<Check aria-hidden />}
          />
        ))}
      </MenuRadioGroup>
    </Menu>
  );
}
