/** The page's one tooltip (tooltip.tsx says when). */
import { CSPProvider } from "@base-ui/react/csp-provider";
import { DirectionProvider } from "@base-ui/react/direction-provider";
import { Tooltip } from "@base-ui/react/tooltip";
import { createRoot, type Root } from "react-dom/client";
import { direction } from "@/lib/locale";

let root: Root | null = null;

export function showTip(anchor: Element, label: string, hint: string | undefined): void {
  root ??= createRoot(document.body.appendChild(document.createElement("div")));
  root.render(
    <CSPProvider disableStyleElements>
      <DirectionProvider direction={direction()}>
        <Tooltip.Root open>
          <Tooltip.Portal>
            <Tooltip.Positioner anchor={anchor} sideOffset={6} className="z-60" data-tooltip>
              <Tooltip.Popup className="flex items-center gap-2 rounded-lg bg-tooltip px-2 py-1 font-medium text-tooltip-foreground text-xs shadow-sm">
                {label}
                {hint && <kbd className="font-sans text-tooltip-foreground/70">{hint}</kbd>}
              </Tooltip.Popup>
            </Tooltip.Positioner>
          </Tooltip.Portal>
        </Tooltip.Root>
      </DirectionProvider>
    </CSPProvider>,
  );
}

export function hideTip(): void {
  root?.render(null);
}
