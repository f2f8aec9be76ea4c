import { t } from "@lingui/core/macro";
import { LoaderCircle } from "lucide-react";
import { cn } from "@/lib/cn";

export function Spinner({ className }: { className?: string }) {
  return <LoaderCircle aria-hidden className={cn("size-4 animate-spin", className)} />;
}

/** Centred in the space that will hold what is loading; named for screen readers. */
export function Loading({ label = t`Loading` }: { label?: string }) {
  return (
    <div role="status" className="flex h-full min-h-32 items-center justify-center">
      <Spinner className="size-5 text-muted-foreground" />
      <span className="sr-only">{label}</span>
    </div>
  );
}
