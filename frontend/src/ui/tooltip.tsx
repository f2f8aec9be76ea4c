import { Tooltip } from "@base-ui/react/tooltip";
import type { ReactElement } from "react";

interface TipProps {
  label: string;
  hint?: string | undefined;
  children: ReactElement<Record<string, unknown>>;
}

/** A tooltip around one focusable element. The element keeps its own accessible name. */
export function Tip({ label, hint, children }: TipProps) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger render={children} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className="z-60">
          <Tooltip.Popup className="flex items-center gap-2 rounded-lg bg-tooltip px-2 py-1 text-xs font-medium text-tooltip-foreground shadow-sm transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0">
            {label}
            {hint && <kbd className="font-sans text-tooltip-foreground/70">{hint}</kbd>}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

export const TipProvider = Tooltip.Provider;
