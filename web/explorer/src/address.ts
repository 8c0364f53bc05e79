/** What a view shows stands in its address, so that every view can be kept and sent as a link. */
import type { GraphNodeFragment } from "helix-memory";
import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";

type Given = Record<string, string | readonly string[] | null | undefined>;

/** Returns the address's parameters with all that was written; what a view was drawn with may be older. */
const newest = () => new URLSearchParams(window.location.search);

/** Reads and writes the parameters of the address. Writing keeps the others; null takes one out. */
export function useAddress() {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (given: Given, { push = false } = {}) => {
      const next = newest();
      for (const [name, value] of Object.entries(given)) {
        next.delete(name);
        for (const one of [value].flat()) if (one) next.append(name, one);
      }
      setParams(next, { replace: !push });
    },
    [setParams],
  );
  return useMemo(
    () => ({
      get: (name: string) => params.get(name) ?? "",
      /** What was last written, which may not be shown yet. */
      latest: (name: string) => newest().get(name) ?? "",
      all: (name: string) => params.getAll(name),
      /** Those of several words that the address says. */
      some: <T extends string>(name: string, words: readonly T[]) => words.filter((word) => params.getAll(name).includes(word)),
      /** One of several words; the first of them where the address says none. */
      oneOf: <T extends string>(name: string, words: readonly [T, ...T[]]): T => words.find((word) => word === params.get(name)) ?? words[0],
      number: (name: string, otherwise: number) => Number(params.get(name) ?? otherwise) || otherwise,
      set,
    }),
    [params, set],
  );
}

/** The scope that every view looks at; null is all of them. It stays in the address from view to view. */
export function useScope(): string | null {
  const [params] = useSearchParams();
  return params.get("scope") || null;
}

/** Returns the address of a view in the scope that is looked at now. */
export function useLink() {
  const scope = useScope();
  return useCallback(
    (path: string, given: Given = {}) => {
      const params = new URLSearchParams();
      for (const [name, value] of Object.entries({ scope, ...given }))
        for (const one of [value].flat()) if (one) params.append(name, one);
      const asked = params.toString();
      return asked ? `${path}?${asked}` : path;
    },
    [scope],
  );
}

/** Where a session is shown. */
export const sessionPath = (name: string): string => `/happened/session/${encodeURIComponent(name)}`;

/** Where a node is shown whole. */
export function hrefOf({ ref: { label, id }, scope }: GraphNodeFragment, link: ReturnType<typeof useLink>): string {
  switch (label) {
    case "MEMORY":
    case "EPISODE":
      return link(`/memory/${id}`);
    case "REFLECTION":
      return link(`/insights/${id}`);
    case "PLAN":
      return link(`/plans/${id}`);
    case "TASK":
      return link(`/tasks/${id}`);
    case "SESSION": // its id is its name, behind its scope where that is not global
      return link(sessionPath(id.startsWith(`${scope}/`) ? id.slice(scope.length + 1) : id), { scope });
    default:
      return link("/graph", { start: id });
  }
}
