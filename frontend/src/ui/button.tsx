import type { ComponentProps, ReactNode } from "react";
import { cn } from "@/lib/cn";
import { Spinner } from "./spinner";
import { Tip } from "./tooltip";

const base =
  "inline-flex cursor-pointer items-center justify-center gap-2 whitespace-nowrap rounded-full text-sm font-medium transition-colors disabled:cursor-not-allowed disabled:opacity-50 [&_svg]:shrink-0";

const variants = {
  primary: "bg-primary text-primary-foreground hover:bg-primary/85",
  outline: "border border-border bg-background hover:bg-hover",
  ghost: "hover:bg-hover",
  danger: "bg-destructive text-white hover:bg-destructive/85",
} as const;

const sizes = { md: "h-10 px-4", sm: "h-8 px-3" } as const;

interface ButtonProps extends ComponentProps<"button"> {
  variant?: keyof typeof variants;
  size?: keyof typeof sizes;
  /** Shows a spinner and takes no clicks; the width stays. */
  busy?: boolean;
}

export function Button({
  variant = "primary",
  size = "md",
  busy = false,
  className,
  children,
  disabled,
  type = "button",
  ...props
}: ButtonProps) {
  return (
    <button
      type={type}
      className={cn(base, variants[variant], sizes[size], className)}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      {...props}
    >
      {busy && <Spinner />}
      {children}
    </button>
  );
}

/** The look of a button for links. */
export function buttonClass(
  variant: keyof typeof variants = "primary",
  size: keyof typeof sizes = "md",
): string {
  return cn(base, variants[variant], sizes[size]);
}

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
