import type { ComponentProps, ReactNode } from "react";
import { cn } from "@/lib/cn";
import { Tip } from "./tooltip";

export const iconButtonClass =
  "inline-flex size-8 shrink-0 cursor-pointer items-center justify-center rounded-lg text-muted-foreground transition-colors hover:bg-hover hover:text-foreground disabled:cursor-not-allowed disabled:opacity-40 data-[popup-open]:bg-hover data-[popup-open]:text-foreground pointer-coarse:size-10";

interface IconButtonProps extends ComponentProps<"button"> {
  /** The accessible name, also shown as the tooltip. */
  label: string;
  /** A hotkey shown behind the label. */
  hint?: string;
  children: ReactNode;
}

/** A square button with only an icon in it. */
export function IconButton({ label, hint, className, type = "button", ...props }: IconButtonProps) {
  return (
    <Tip label={label} hint={hint}>
      <button
        type={type}
        aria-label={label}
        className={cn(iconButtonClass, className)}
        {...props}
      />
    </Tip>
  );
}
