// Sets the theme before the first paint. src/lib/theme.ts owns the setting; keep the key in step.
(() => {
  let stored = null;
  try {
    stored = localStorage.getItem("parley.theme");
  } catch {
    // Storage is blocked: as the system says.
  }
  const dark =
    stored === "dark" ||
    (stored !== "light" && window.matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
