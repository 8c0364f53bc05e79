/** What a view shows while it reads, when there is nothing, and when something went wrong. */
import { Button } from "react-aria-components";

import { wordsOf } from "../api";

export function Loading({ what }: { what: string }) {
  return (
    <p className="state" role="status">
      Reading {what} …
    </p>
  );
}

/** The graph cannot answer yet, why, and that nobody has to do anything. */
export function Late({ reason }: { reason: unknown }) {
  return (
    <div className="state" role="status">
      <p className="state-title">The graph catches up with what was stored. This page goes on by itself.</p>
      <p className="muted">{wordsOf(reason)[0]}</p>
    </div>
  );
}

/** Nothing is there; the children say what to do next. */
export function Empty({ title, children }: { title: string; children?: React.ReactNode }) {
  return (
    <div className="state">
      <p className="state-title">{title}</p>
      {children && <div>{children}</div>}
    </div>
  );
}

export function Failed({ error, again }: { error: unknown; again?: () => unknown }) {
  const [what, next] = wordsOf(error);
  return (
    <div className="state wrong" role="alert">
      <p className="state-title">{what}</p>
      {next && <p>{next}</p>}
      {again && (
        <Button className="button" onPress={() => void again()}>
          Try again
        </Button>
      )}
    </div>
  );
}

interface Asked<T> {
  data: T | undefined;
  error: unknown;
  isPending: boolean;
  refetch: () => unknown;
}

/** Shows an answer once it is there, and else how it stands. An answer that is there stays while it is read anew. */
export function Show<T>({ of, what, children }: { of: Asked<T>; what: string; children: (data: T) => React.ReactNode }) {
  if (of.data !== undefined) return children(of.data);
  if (of.error) return <Failed error={of.error} again={of.refetch} />;
  return of.isPending ? <Loading what={what} /> : null;
}
