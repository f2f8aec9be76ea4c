import { Dialog } from "@base-ui/react/dialog";
import { t } from "@lingui/core/macro";
import { Sidebar } from "@/sidebar/sidebar";
import { backdropClass } from "@/ui/dialog-window";
import { useLayout } from "./layout-state";

/** The sidebar on a phone: over the page, closed by a choice, by Escape, or by a tap beside it. */
export function Drawer() {
  const { drawerOpen, setDrawer } = useLayout();
  return (
    <Dialog.Root open={drawerOpen} onOpenChange={setDrawer}>
      <Dialog.Portal>
        <Dialog.Backdrop className={backdropClass} />
        <Dialog.Popup
          aria-label={t`Menu`}
          className="data-ending-style:-translate-x-full data-starting-style:-translate-x-full rtl:data-ending-style:translate-x-full rtl:data-starting-style:translate-x-full fixed inset-y-0 start-0 z-50 w-[85vw] max-w-[300px] bg-sidebar shadow-2xl outline-none transition-transform duration-200"
        >
          <Sidebar inDrawer />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
