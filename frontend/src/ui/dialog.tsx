import { type ReactNode, type RefObject, useState } from "react";
import { dialogs } from "./overlays";

export interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  className?: string;
  initialFocus?: RefObject<HTMLElement | null>;
}

/** A modal dialog with a title and a close button; Escape and a click outside close it. */
export function Dialog(props: DialogProps) {
  // Once opened it stays, so that it can be seen to close.
  const [opened, setOpened] = useState(props.open);
  if (props.open && !opened) setOpened(true);
  const windows = dialogs.use(opened);
  return windows && <windows.DialogWindow {...props} />;
}

/** The row of buttons at a dialog's end. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-2 flex flex-wrap justify-end gap-2">{children}</div>;
}
