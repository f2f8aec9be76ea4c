import { t } from "@lingui/core/macro";
import { Menu as MenuIcon, PanelLeft, SquarePen } from "lucide-react";
import { useNavigate } from "react-router";
import { IconButton } from "@/ui/icon-button";
import { useLayout } from "./layout-state";

/** What opens the sidebar where it is not on the page, and a new chat beside it. */
export function MobileNavButtons() {
  const { sidebarOpen, toggleSidebar, setDrawer } = useLayout();
  const navigate = useNavigate();
  return (
    <>
      <IconButton label={t`Open menu`} className="md:hidden" onClick={() => setDrawer(true)}>
        <MenuIcon className="size-5" />
      </IconButton>
      {!sidebarOpen && (
        <div className="hidden items-center md:flex">
          <IconButton label={t`Open sidebar`} onClick={toggleSidebar}>
            <PanelLeft className="size-5 rtl:-scale-x-100" />
          </IconButton>
          <IconButton label={t`New chat`} onClick={() => void navigate("/")}>
            <SquarePen className="size-4.5" />
          </IconButton>
        </div>
      )}
    </>
  );
}
