/** What a menu (menu.tsx) is once it is opened. */
import { Menu as Base } from "@base-ui/react/menu";
import { useEffect, useRef } from "react";
import { cn } from "@/lib/cn";
import type { MenuItemProps, MenuProps, MenuRadioGroupProps, MenuRadioItemProps } from "./menu";

/** Where `opens`, it opens at once, as by the trigger in whose place it stands from now on. */
export function MenuWindow({
  opens = false,
  trigger,
  children,
  side = "bottom",
  align = "start",
  className,
}: MenuProps & { opens?: boolean }) {
  const button = useRef<HTMLButtonElement>(null);
  const opened = useRef(false);
  useEffect(() => {
    if (!opens || opened.current) return;
    opened.current = true;
    button.current?.focus();
    button.current?.click();
  }, [opens]);
  return (
    <Base.Root modal={false}>
      <Base.Trigger ref={button} render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={6} className="z-50 outline-none">
          <Base.Popup
            className={cn(
              "max-h-(--available-height) min-w-48 origin-(--transform-origin) overflow-y-auto overscroll-contain rounded-2xl border border-border bg-popover p-1.5 text-popover-foreground shadow-lg outline-none transition data-ending-style:scale-97 data-starting-style:scale-97 data-ending-style:opacity-0 data-starting-style:opacity-0",
              className,
            )}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

const itemClass =
  "flex w-full cursor-pointer select-none items-center gap-3 rounded-lg px-3 py-2 text-sm outline-none data-highlighted:bg-hover pointer-coarse:py-2.5 [&_svg]:size-4.5 [&_svg]:shrink-0";

export function Item(props: MenuItemProps) {
  const { icon, children, onSelect, danger, disabled, className } = props;
  return (
    <Base.Item
      disabled={disabled ?? false}
      onClick={onSelect}
      className={cn(itemClass, danger && "text-destructive", "data-disabled:opacity-50", className)}
    >
      {icon}
      {children}
    </Base.Item>
  );
}

export const RadioGroup = (props: MenuRadioGroupProps) => <Base.RadioGroup {...props} />;

export function RadioItem(props: MenuRadioItemProps) {
  return (
    <Base.RadioItem
      value={props.value}
      closeOnClick
      disabled={props.disabled ?? false}
      className={cn(itemClass, "justify-between data-disabled:opacity-50")}
    >
      <span className="flex min-w-0 flex-col">
        <span className="truncate">{props.label}</span>
        {props.description && (
          <span className="text-muted-foreground text-xs">{props.description}</span>
        )}
      </span>
      <Base.RadioItemIndicator>{props.indicator}</Base.RadioItemIndicator>
    </Base.RadioItem>
  );
}

export function Separator() {
  return <Base.Separator className="mx-2 my-1.5 h-px bg-border" />;
}
