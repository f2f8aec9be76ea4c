import type { ReactNode } from "react";
import { cn } from "@/lib/cn";

interface FileChipProps {
  name: string;
  /** What stands for the file: an icon, a small image, a spinner. */
  icon: ReactNode;
  error?: string | undefined;
}

/** A file by its name. */
export function FileChip({ name, icon, error }: FileChipProps) {
  return (
    <span
      className={cn(
        "flex h-12 max-w-60 items-center gap-2.5 rounded-xl border border-border bg-background py-1.5 pe-3 ps-1.5 text-sm",
        error && "border-destructive",
      )}
    >
      <span className="flex size-9 shrink-0 items-center justify-center overflow-hidden rounded-lg bg-muted [&>svg]:size-4.5">
        {icon}
      </span>
      <span className="flex min-w-0 flex-col leading-tight">
        <span dir="auto" className="truncate font-medium">
          {name}
        </span>
        {error && (
          <span role="alert" className="truncate text-destructive text-xs">
            {error}
          </span>
        )}
      </span>
    </span>
  );
}
