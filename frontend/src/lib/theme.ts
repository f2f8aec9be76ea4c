/**
 * The theme: light, dark, or as the system says. public/theme.js applies the stored one before
 * the first paint; from then on this module keeps `data-theme` on the root element right.
 */
import { create } from "zustand";
import { readStored, writeStored } from "./storage";

export type Theme = "light" | "dark" | "system";

const KEY = "parley.theme";
const systemIsDark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;

function stored(): Theme {
  const value = readStored(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

function apply(theme: Theme): void {
  const dark = theme === "dark" || (theme === "system" && systemIsDark());
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

interface ThemeState {
  theme: Theme;
  setTheme: (theme: Theme) => void;
}

export const useTheme = create<ThemeState>((set) => ({
  theme: stored(),
  setTheme: (theme) => {
    writeStored(KEY, theme);
    apply(theme);
    set({ theme });
  },
}));

/** Follows the system's setting and the other tabs; called once, at start. */
export function watchTheme(): void {
  const refresh = () => {
    apply(stored());
    useTheme.setState({ theme: stored() });
  };
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) refresh();
  });
  refresh();
}
