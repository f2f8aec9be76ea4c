/** Where notices (toast.tsx) are shown. */

import { Toast } from "@base-ui/react/toast";
import { t } from "@lingui/core/macro";
import { X } from "lucide-react";
import { useEffect } from "react";
import type { ToastAction } from "./toast";

const manager = Toast.createToastManager();

/** Before the viewport is there, none would be shown. */
let isThere = false;
const early: (() => void)[] = [];

export function show(title: string, action?: ToastAction): void {
  if (isThere) add(title, action);
  else early.push(() => add(title, action));
}

function add(title: string, action: ToastAction | undefined): void {
  const id = manager.add({
    title,
    timeout: action ? 8000 : 4000,
    ...(action && {
      actionProps: {
        children: action.label,
        onClick: () => {
          action.onClick();
          manager.close(id);
        },
      },
    }),
  });
}

export function ToastViewport() {
  useEffect(() => {
    isThere = true;
    for (const one of early.splice(0)) one();
    return () => {
      isThere = false;
    };
  }, []);
  return (
    <Toast.Provider toastManager={manager} limit={3}>
      <Toast.Portal>
        {/* Below the header: at the foot it would cover what is written, and the button that sends it. */}
        <Toast.Viewport className="fixed inset-x-0 top-[calc(3.5rem+env(safe-area-inset-top))] z-70 mx-auto flex w-[calc(100vw-2rem)] max-w-sm flex-col gap-2 outline-none">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((item) => (
    <Toast.Root
      key={item.id}
      toast={item}
      swipeDirection={["up", "right"]}
      className="flex items-center gap-3 rounded-2xl bg-tooltip py-2 pe-2 ps-4 text-sm text-tooltip-foreground shadow-lg transition data-ending-style:opacity-0 data-starting-style:-translate-y-2 data-starting-style:opacity-0 data-limited:hidden"
    >
      <Toast.Title className="min-w-0 flex-1 py-1" />
      <Toast.Action className="cursor-pointer rounded-lg px-2.5 py-1.5 font-semibold hover:bg-white/15 dark:hover:bg-black/10" />
      <Toast.Close
        aria-label={t`Dismiss`}
        className="cursor-pointer rounded-lg p-1.5 hover:bg-white/15 dark:hover:bg-black/10"
      >
        <X aria-hidden className="size-4" />
      </Toast.Close>
    </Toast.Root>
  ));
}
