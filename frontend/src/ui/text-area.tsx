import { type ComponentProps, useId } from "react";
import { cn } from "@/lib/cn";

interface TextAreaProps extends ComponentProps<"textarea"> {
  label: string;
  hint?: string;
}

/** A labelled field of several lines; its hint is read out with it. */
export function TextArea({ label, hint, className, ...props }: TextAreaProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="font-medium text-sm">
        {label}
      </label>
      <textarea
        id={id}
        rows={4}
        dir="auto"
        aria-describedby={hint ? `${id}-note` : undefined}
        className={cn(
          "scrollbar-quiet w-full resize-y rounded-xl border border-input bg-background px-3.5 py-2.5 text-base outline-offset-0 placeholder:text-muted-foreground md:text-sm",
          className,
        )}
        {...props}
      />
      {hint && (
        <p id={`${id}-note`} className="text-muted-foreground text-xs">
          {hint}
        </p>
      )}
    </div>
  );
}
