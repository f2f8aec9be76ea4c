import { type ClassValue, clsx } from "clsx";
import { twMerge } from "tailwind-merge";

/** Class names, later ones winning over earlier ones of the same kind. */
export function cn(...classes: ClassValue[]): string {
  return twMerge(clsx(classes));
}

/** Makes the tables that the first call would make in the middle of a render. */
export function prepareClassNames(): void {
  twMerge("");
}
