import { type ComponentProps, useId } from "react";
import { cn } from "@/lib/cn";

interface SelectProps<T extends string> extends Omit<ComponentProps<"select">, "onChange"> {
  label: string;
  /** The label is read out but not shown: the place says it. */
  quiet?: boolean;
  value: T;
  onChange: (value: T) => void;
  options: { value: T; label: string; disabled?: boolean; lang?: string }[];
}

/** One choice of several, as the device shows it. */
export function Select<T extends string>({
  label,
  quiet = false,
  value,
  onChange,
  options,
  className,
  ...props
}: SelectProps<T>) {
  const id = useId();
  return (
    <div className={quiet ? "contents" : "flex flex-col gap-1.5"}>
      <label htmlFor={id} className={quiet ? "sr-only" : "font-medium text-sm"}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value as T)}
        className={cn(
          "h-10 max-w-full cursor-pointer rounded-full border border-border bg-background px-3.5 text-sm hover:bg-hover disabled:cursor-not-allowed disabled:opacity-50",
          className,
        )}
        {...props}
      >
        {options.map((option) => (
          <option
            key={option.value}
            value={option.value}
            disabled={option.disabled ?? false}
            lang={option.lang}
          >
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}
