import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import type { ReactNode } from "react";

interface SegmentedProps<T extends string> {
  label: string;
  value: T;
  onChange: (value: T) => void;
  options: { value: T; label: string; icon?: ReactNode }[];
}

/** One choice of a few, side by side; arrow keys move it. */
export function Segmented<T extends string>({
  label,
  value,
  onChange,
  options,
}: SegmentedProps<T>) {
  return (
    <RadioGroup
      aria-label={label}
      value={value}
      onValueChange={(next) => onChange(next as T)}
      className="inline-flex max-w-full flex-wrap gap-1 self-start rounded-3xl bg-muted p-1"
    >
      {options.map((option) => (
        <Radio.Root
          key={option.value}
          value={option.value}
          render={<button type="button" />}
          nativeButton
          className="inline-flex h-8 cursor-pointer items-center gap-2 whitespace-nowrap rounded-full px-3.5 text-muted-foreground text-sm transition-colors hover:text-foreground data-checked:bg-background data-checked:font-medium data-checked:text-foreground data-checked:shadow-sm [&_svg]:size-4"
        >
          {option.icon}
          {option.label}
        </Radio.Root>
      ))}
    </RadioGroup>
  );
}
