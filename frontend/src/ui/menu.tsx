import {
  cloneElement,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useState,
} from "react";
import { menus } from "./overlays";

export interface MenuProps {
  trigger: ReactElement<Record<string, unknown>>;
  children: ReactNode;
  side?: "top" | "bottom";
  align?: "start" | "center" | "end";
  className?: string;
}

/**
 * A menu that opens from `trigger` (a button); arrow keys, type-ahead and Escape work.
 *
 * Until the first press the trigger is a plain button, unless what a menu is was fetched before. In a
 * dialog it has to be: a dialog takes the focus of a button that is replaced, and the menu closes.
 */
export function Menu(props: MenuProps) {
  const [wanted, setWanted] = useState(false);
  const [there] = useState(menus.now);
  const windows = menus.use(wanted);
  if (there) return <there.MenuWindow {...props} />;
  if (windows) return <windows.MenuWindow {...props} opens />;
  const load = () => void menus.load().catch(() => undefined);
  // After the event: what is opened by it would take it for one outside.
  const open = () => void setTimeout(() => setWanted(true));
  return cloneElement(props.trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onPointerEnter: load,
    onFocus: load,
    onClick: open,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      open();
    },
  });
}

export interface MenuItemProps {
  icon?: ReactNode;
  children: ReactNode;
  onSelect: () => void;
  danger?: boolean;
  disabled?: boolean;
  className?: string;
}

export interface MenuRadioGroupProps {
  value: string;
  onValueChange: (value: unknown) => void;
  children: ReactNode;
}

export interface MenuRadioItemProps {
  value: string;
  label: string;
  description?: ReactNode;
  indicator: ReactNode;
  disabled?: boolean;
}

// They are rendered in an open menu alone, whose module is there.
export function MenuItem(props: MenuItemProps) {
  const windows = menus.now();
  return windows && <windows.Item {...props} />;
}

export function MenuRadioGroup(props: MenuRadioGroupProps) {
  const windows = menus.now();
  return windows && <windows.RadioGroup {...props} />;
}

export function MenuRadioItem(props: MenuRadioItemProps) {
  const windows = menus.now();
  return windows && <windows.RadioItem {...props} />;
}

export function MenuSeparator() {
  const windows = menus.now();
  return windows && <windows.Separator />;
}
