import { toasts } from "./overlays";

export interface ToastAction {
  label: string;
  onClick: () => void;
}

/**
 * Shows a short notice at the page's edge, announced to screen readers. With an action it stays for
 * 8 s, else for 4 s.
 */
export function toast(title: string, action?: ToastAction): void {
  // Without a connection before the first one there is no place to show it.
  void toasts.load().then(
    ({ show }) => show(title, action),
    () => undefined,
  );
}

/** Where they are shown: once on the page. */
export function Toaster() {
  const windows = toasts.use(true, false);
  return windows && <windows.ToastViewport />;
}
