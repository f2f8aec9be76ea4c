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
      <IconButton label="Open menu" className="md:hidden" onClick={() => setDrawer(true)}>
        <MenuIcon className="size-5" />
      </IconButton>
      {!sidebarOpen && (
        <div className="hidden items-center md:flex">
          <IconButton label="Open sidebar" onClick={toggleSidebar}>
            <PanelLeft className="size-5" />
          </IconButton>
          <IconButton label="New chat" onClick={() => void navigate("/")}>
            <SquarePen className="size-4.5" />
          </IconButton>
        </div>
      )}
    </>
  );
}
