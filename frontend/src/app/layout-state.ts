/** Whether the sidebar is open: on a wide screen beside the page, on a phone as a drawer. */
import { create } from "zustand";
import { readStored, writeStored } from "@/lib/storage";

const KEY = "parley.sidebar";

interface LayoutState {
  /** On wide screens; remembered. */
  sidebarOpen: boolean;
  /** On phones; closed again by each navigation. */
  drawerOpen: boolean;
  searchOpen: boolean;
  shortcutsOpen: boolean;
  /** Something lies over the page and the sidebar. */
  covered: boolean;
  toggleSidebar: () => void;
  setDrawer: (open: boolean) => void;
  setSearch: (open: boolean) => void;
  setShortcuts: (open: boolean) => void;
}

export const useLayout = create<LayoutState>((set, get) => ({
  sidebarOpen: readStored(KEY) !== "closed",
  drawerOpen: false,
  searchOpen: false,
  shortcutsOpen: false,
  covered: false,
  toggleSidebar: () => {
    const sidebarOpen = !get().sidebarOpen;
    writeStored(KEY, sidebarOpen ? "open" : "closed");
    set({ sidebarOpen });
  },
  setDrawer: (drawerOpen) => set({ drawerOpen }),
  setSearch: (searchOpen) => set({ searchOpen }),
  setShortcuts: (shortcutsOpen) => set({ shortcutsOpen }),
}));
