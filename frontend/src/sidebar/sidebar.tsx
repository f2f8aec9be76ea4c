import { t } from "@lingui/core/macro";
import { Bot, PanelLeft, Search, SquarePen, X } from "lucide-react";
import type { ReactNode } from "react";
import { Link, useNavigate } from "react-router";
import { useLayout } from "@/app/layout-state";
import { hotkeyLabel } from "@/lib/hotkeys";
import { IconButton } from "@/ui/icon-button";
import { Logo } from "@/ui/logo";
import { AccountMenu } from "./account-menu";
import { ConversationList } from "./conversation-list";
import { SidebarProjects } from "./sidebar-projects";

/** New chat, search, the conversations, and the account. */
export function Sidebar({ inDrawer = false }: { inDrawer?: boolean }) {
  const { toggleSidebar, setDrawer, setSearch } = useLayout();
  const navigate = useNavigate();
  return (
    <div className="flex h-full flex-col bg-sidebar">
      <div className="flex h-14 shrink-0 items-center justify-between pe-2.5 ps-4">
        <Link to="/" aria-label={t`Parley, new chat`} className="rounded-lg">
          <Logo />
        </Link>
        {inDrawer ? (
          <IconButton label={t`Close menu`} onClick={() => setDrawer(false)}>
            <X className="size-5" />
          </IconButton>
        ) : (
          <IconButton label={t`Close sidebar`} onClick={toggleSidebar}>
            <PanelLeft className="size-5 rtl:-scale-x-100" />
          </IconButton>
        )}
      </div>
      <div className="flex flex-col gap-px px-2.5 pb-3">
        <SidebarButton
          icon={<SquarePen aria-hidden className="size-4.5" />}
          label={t`New chat`}
          hint={hotkeyLabel("mod+shift+o")}
          onClick={() => {
            setDrawer(false);
            void navigate("/");
          }}
        />
        <SidebarButton
          icon={<Search aria-hidden className="size-4.5" />}
          label={t`Search chats`}
          hint={hotkeyLabel("mod+k")}
          onClick={() => {
            setDrawer(false);
            setSearch(true);
          }}
        />
        <SidebarButton
          icon={<Bot aria-hidden className="size-4.5" />}
          label={t`Assistants`}
          onClick={() => {
            setDrawer(false);
            void navigate("/assistants");
          }}
        />
      </div>
      <SidebarProjects />
      <nav
        aria-label={t`Conversations`}
        className="scrollbar-quiet min-h-0 flex-1 overflow-y-auto px-2.5"
      >
        <ConversationList />
      </nav>
      <div className="border-border border-t p-2.5">
        <AccountMenu />
      </div>
    </div>
  );
}

interface SidebarButtonProps {
  icon: ReactNode;
  label: string;
  /** Its keys. */
  hint?: string;
  onClick: () => void;
}

function SidebarButton({ icon, label, hint, onClick }: SidebarButtonProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="group/button flex h-9 w-full cursor-pointer items-center gap-2.5 rounded-lg px-2.5 text-start text-sm hover:bg-hover pointer-coarse:h-11"
    >
      {icon}
      <span className="flex-1 truncate">{label}</span>
      <kbd
        aria-hidden
        className="hidden font-sans text-muted-foreground text-xs group-hover/button:block group-focus-visible/button:block pointer-coarse:hidden"
      >
        {hint}
      </kbd>
    </button>
  );
}
