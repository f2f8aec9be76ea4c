/** What a dialog (dialog.tsx) is once it is opened. */
import { Dialog as Base } from "@base-ui/react/dialog";
import { t } from "@lingui/core/macro";
import { X } from "lucide-react";
import { cn } from "@/lib/cn";
import type { DialogProps } from "./dialog";
import { iconButtonClass } from "./icon-button";

export const backdropClass =
  "fixed inset-0 z-40 bg-black/45 transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0";

export function DialogWindow(props: DialogProps) {
  const { open, onOpenChange, title, description, children, className, initialFocus } = props;
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className={backdropClass} />
        <Base.Popup
          initialFocus={initialFocus}
          className={cn(
            "-translate-y-1/2 fixed inset-x-0 top-1/2 z-50 mx-auto flex max-h-[85dvh] w-[calc(100vw-2rem)] max-w-md flex-col gap-4 overflow-y-auto rounded-2xl border border-border bg-popover p-6 text-popover-foreground shadow-2xl transition duration-150 data-ending-style:scale-97 data-starting-style:scale-97 data-ending-style:opacity-0 data-starting-style:opacity-0",
            className,
          )}
        >
          <div className="flex items-start justify-between gap-4">
            <div className="flex flex-col gap-1.5">
              <Base.Title className="font-semibold text-lg leading-6">{title}</Base.Title>
              {description && (
                <Base.Description className="text-muted-foreground text-sm">
                  {description}
                </Base.Description>
              )}
            </div>
            <Base.Close aria-label={t`Close`} className={cn(iconButtonClass, "-mt-1 -me-2")}>
              <X className="size-4.5" />
            </Base.Close>
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
