import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Folder } from "lucide-react";
import { useId } from "react";
import { NavLink } from "react-router";
import { useLayout } from "@/app/layout-state";
import { useProjects } from "@/chat/chosen-project";
import { cn } from "@/lib/cn";

const SHOWN = 4;

/** The person's projects, whose pages hold their chats; nothing while there is the default alone. */
export function SidebarProjects() {
  const { setDrawer } = useLayout();
  const id = useId();
  const projects = useProjects().projects.filter((project) => !project.is_default);
  if (projects.length === 0) return null;
  const links = projects.slice(0, SHOWN).map(({ id, name }) => ({ to: `/projects/${id}`, name }));
  if (projects.length > SHOWN) links.push({ to: "/projects", name: t`All projects` });
  return (
    <nav aria-labelledby={id} className="px-2.5 pb-4">
      <h3 id={id} className="px-2.5 pt-1 pb-1.5 font-medium text-muted-foreground text-xs">
        <Trans>Projects</Trans>
      </h3>
      <ul className="flex flex-col gap-px">
        {links.map(({ to, name }) => (
          <li key={to}>
            <NavLink
              to={to}
              end
              onClick={() => setDrawer(false)}
              className={({ isActive }) =>
                cn(
                  "flex h-9 items-center gap-2 rounded-lg px-2.5 text-sm hover:bg-hover pointer-coarse:h-11",
                  isActive && "bg-hover font-medium",
                )
              }
            >
              <Folder aria-hidden className="size-4 shrink-0 text-muted-foreground" />
              <span className="truncate" title={name} dir="auto">
                {name}
              </span>
            </NavLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}
