/** Light, dark or as the system has it; kept in this browser. */
export type Theme = "system" | "light" | "dark";

const KEY = "helix.theme";

export function themeNow(): Theme {
  const kept = window.localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function applyTheme(theme: Theme = themeNow()): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  window.localStorage.setItem(KEY, theme);
}

/** Returns whether dark colours are shown now. */
export const isDark = (): boolean =>
  document.documentElement.dataset.theme === "dark" ||
  (!document.documentElement.dataset.theme && window.matchMedia("(prefers-color-scheme: dark)").matches);
