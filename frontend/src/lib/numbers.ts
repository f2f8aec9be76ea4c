/** Numbers and lists for people, as the page's language writes them. */
import { locale } from "./locale";

/** `1,234.50`: with so many digits behind the point, none unless told. */
export const formatNumber = (value: number, places = 0): string =>
  new Intl.NumberFormat(locale(), {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  }).format(value);

/** `a, b, c`; with a word before the last where the language has one there (German has). */
export const formatList = (names: readonly string[]): string =>
  new Intl.ListFormat(locale(), { type: "unit", style: "short" }).format(names);
