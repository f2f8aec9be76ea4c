import { t } from "@lingui/core/macro";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";

interface RenameFieldProps {
  title: string;
  /** The new title, or null when it was left as it is. Called once. */
  onDone: (title: string | null) => void;
}

/** The title as a text field: Enter or leaving it saves, Escape does not. */
export function RenameField({ title, onDone }: RenameFieldProps) {
  const [value, setValue] = useState(title);
  const input = useRef<HTMLInputElement>(null);
  const done = useRef(false);

  useEffect(() => {
    // The menu that led here gives the focus back to its button first.
    const frame = requestAnimationFrame(() => input.current?.select());
    return () => cancelAnimationFrame(frame);
  }, []);

  const finish = (next: string | null) => {
    if (done.current) return;
    done.current = true;
    onDone(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") finish(value.trim() || null);
    if (event.key === "Escape") {
      event.preventDefault();
      finish(null);
    }
  };
  return (
    <input
      ref={input}
      aria-label={t`Title`}
      dir="auto"
      value={value}
      maxLength={200}
      onChange={(event) => setValue(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => finish(value.trim() || null)}
      className="h-9 w-full rounded-lg border border-input bg-background px-2.5 text-sm pointer-coarse:h-11 pointer-coarse:text-base"
    />
  );
}
