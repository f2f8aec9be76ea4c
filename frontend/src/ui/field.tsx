import { type ComponentProps, useId } from "react";
import { cn } from "@/lib/cn";

export const inputClass =
  "h-11 w-full rounded-xl border border-input bg-background px-3.5 text-base outline-offset-0 placeholder:text-muted-foreground aria-invalid:border-destructive md:text-sm";

interface FieldProps extends ComponentProps<"input"> {
  label: string;
  hint?: string;
  error?: string | undefined;
}

/** A labelled input; its hint and its error are read out with it. */
export function Field({ label, hint, error, className, ...props }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const note = error ?? hint;
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="font-medium text-sm">
        {label}
      </label>
      <input
        id={id}
        className={cn(inputClass, className)}
        aria-invalid={error ? true : undefined}
        aria-describedby={note ? noteId : undefined}
        {...props}
      />
      {note && (
        <p
          id={noteId}
          className={cn("text-xs", error ? "text-destructive" : "text-muted-foreground")}
        >
          {note}
        </p>
      )}
    </div>
  );
}
