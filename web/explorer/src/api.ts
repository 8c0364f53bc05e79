/** How the page asks the daemon: the TypeScript client by the session's cookie, with answers kept by TanStack Query. */
import {
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { DaemonError, GraphUnavailableError, Helix, HelixError, QueryTimeoutError } from "helix-memory";
import type { Answer, Document, PageInfoFragment } from "helix-memory";

import { fromDaemon } from "../../shared/daemon";
import { tell } from "./shell/toasts";

export const helix = new Helix({ url: window.location.origin }, { fetch: fromDaemon });

export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 5_000, refetchOnWindowFocus: false, networkMode: "always" },
    mutations: { networkMode: "always" }, // the daemon is on this machine: no network is needed to ask it
  },
});

/** The name of an operation, which stands in the keys of its answers. */
export const nameOf = (document: Document<unknown, never>): string =>
  /(?:query|mutation|subscription) (\w+)/.exec(document.text)?.[1] ?? "";

interface Asking {
  /** Whether to ask at all. */
  when?: boolean;
  /** Whether to show the last answer until the next one is there. */
  keep?: boolean;
  /** Milliseconds after which to ask again. */
  every?: number;
  /** Whether to ask on while the graph cannot answer: it may have much to catch up with, or be built anew. */
  patient?: boolean;
}

const CATCHING_UP = 1_000; // milliseconds between two questions to a graph that cannot answer yet

/** Whether the graph will answer later what it cannot answer now. */
export const isLate = (error: unknown): boolean => error instanceof QueryTimeoutError || error instanceof GraphUnavailableError;

/** Asks a query, again whenever the store says that something it may rest on has changed. */
export function useAnswer<Data, Variables>(
  document: Document<Data, Variables>,
  variables: Variables,
  { when = true, keep = true, every, patient = false }: Asking = {},
) {
  return useQuery({
    queryKey: [nameOf(document), variables],
    queryFn: ({ signal }) => helix.run(document, variables, signal),
    enabled: when,
    ...(keep ? { placeholderData: keepPreviousData } : {}),
    ...(every ? { refetchInterval: every } : {}),
    ...(patient ? { retry: (_: number, error: unknown) => isLate(error), retryDelay: CATCHING_UP } : {}),
  });
}

interface Connection {
  edges: readonly { node: unknown }[];
  pageInfo: PageInfoFragment;
  totalCount: number;
}
type NodeOf<C> = C extends { edges: readonly { node: infer N }[] } ? N : never;

/** Asks for a list page by page: `items` are those read so far, `more` reads the next page. */
export function usePages<Data, Variables extends object>(
  document: Document<Data, Variables>,
  variables: Variables,
  { when = true }: Asking = {},
) {
  const pages = useInfiniteQuery({
    queryKey: [nameOf(document), "pages", variables],
    queryFn: async ({ pageParam, signal }) => {
      const asked = { ...variables, ...(pageParam ? { after: pageParam } : {}) };
      return (await helix.run(document, asked, signal)) as Answer<Data> & Connection;
    },
    initialPageParam: "",
    getNextPageParam: (page) => (page.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? undefined) : undefined),
    enabled: when,
    placeholderData: keepPreviousData,
  });
  const read = pages.data?.pages ?? [];
  return {
    items: read.flatMap((page) => page.edges.map((edge) => edge.node as NodeOf<Answer<Data>>)),
    total: read[0]?.totalCount ?? 0,
    more: () => void pages.fetchNextPage(),
    hasMore: pages.hasNextPage,
    ...pages,
  };
}

/** What every view shows besides: counts of what waits, and of what there is. */
export const refresh = (client: QueryClient = queries) => void client.invalidateQueries();

interface Changing<Data, Variables> {
  /** What to say once it is done; a function is given the answer and what was asked. */
  said?: string | ((answer: Answer<Data>, asked: Variables) => string);
  /** How to take it back, if it can be. */
  undo?: (answer: Answer<Data>, asked: Variables) => Promise<unknown>;
  onDone?: (answer: Answer<Data>) => void;
}

/** Carries out a change, says so, offers to undo it, and has every view read again what may have changed. */
export function useChange<Data, Variables>(
  document: Document<Data, Variables>,
  { said, undo, onDone }: Changing<Data, Variables> = {},
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (variables: Variables) => helix.run(document, variables),
    onSuccess: (answer, asked) => {
      refresh(client);
      const words = typeof said === "function" ? said(answer, asked) : said;
      if (words) tell(words, undo && { label: "Undo", act: () => undo(answer, asked).then(() => refresh(client)) });
      onDone?.(answer);
    },
    onError: (error) => tell(wordsOf(error).join(" "), undefined, "wrong"),
  });
}

/** What went wrong, and what to do about it. */
export function wordsOf(error: unknown): [string, string] {
  if (error instanceof DaemonError) return ["Helix does not answer.", "This page goes on when it does."];
  if (error instanceof HelixError) {
    const { hint } = error;
    return hint ? [sentence(error.message.replace(` (${hint})`, "")), sentence(hint)] : [sentence(error.message), ""];
  }
  return [sentence(String(error)), "Reload the page; `helix logs` may say more."];
}

const sentence = (words: string): string => {
  const text = words.trim().replace(/^[a-z]/, (first) => first.toUpperCase());
  return text && !/[.!?]$/.test(text) ? `${text}.` : text;
};
