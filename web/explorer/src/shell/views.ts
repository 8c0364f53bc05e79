/** The views and their tabs, as the frame and the palette lead to them. */
export const VIEWS = [
  { path: "/", name: "Ask" },
  { path: "/graph", name: "Graph" },
  { path: "/happened", name: "What happened" },
  { path: "/insights", name: "Insights" },
  { path: "/decide", name: "To decide" },
  { path: "/helps", name: "Does it help?" },
  { path: "/health", name: "Health" },
  { path: "/transfer", name: "Import and export" },
] as const;

export const HAPPENED = ["timeline", "sessions", "episodes", "plans"] as const;
export const HEALTH = ["overview", "work", "models", "settings", "agents", "checks", "log"] as const;
export const DECIDE = [
  { id: "contradictions", name: "Contradictions", of: "contradictions" },
  { id: "quarantine", name: "Quarantine", of: "quarantined" },
  { id: "queue", name: "Learning queue", of: "candidates" },
  { id: "duplicates", name: "Duplicates", of: "duplicates" },
  { id: "gaps", name: "Gaps", of: "gaps" },
] as const;

/** Returns what a tab is called: its word with a capital. */
export const tabName = (tab: string): string => `${tab[0]?.toUpperCase() ?? ""}${tab.slice(1)}`;
