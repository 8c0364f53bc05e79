/** Follows what changes in the store, and knows whether the daemon answers. */
import { useQueryClient } from "@tanstack/react-query";
import { EventsDocument } from "helix-memory";
import type { EventFragment } from "helix-memory";
import { createContext, useContext, useEffect, useState } from "react";

import { follow, fromDaemon, NotTheDaemon } from "../../shared/daemon";
import { helix, refresh } from "./api";

/** `live`: changes are followed; `away`: nobody answers; `stranger`: the daemon that answers does not know this page. */
export type Connection = "live" | "away" | "stranger";

const Connected = createContext<Connection>("live");
export const useConnection = (): Connection => useContext(Connected);

const COSTLY = new Set(["Inbox", "Duplicates", "GraphOverview"]);
const RECALLED = /^(memory|episode|insight|store)\./; // events after which a question may be answered otherwise
const GATHERED = 400; // milliseconds in which events are gathered before views read anew
const LONGEST = 6_400; // of an import, whose events do not end, they are gathered twice as long each time, up to this
const PATIENCE = 2_000; // milliseconds between two tries

export function Live({ children }: { children: React.ReactNode }) {
  const client = useQueryClient();
  const [connection, setConnection] = useState<Connection>("live");
  useEffect(() => {
    const leaving = new AbortController();
    const told = new Set<string>();
    let timer: number | undefined;
    let gathering = GATHERED;
    let last = 0;

    /** What compares the whole store is read anew by what a person does here, and now and then. */
    const read = () => {
      timer = undefined;
      last = Date.now();
      const known = [...told].some((type) => RECALLED.test(type));
      told.clear();
      void client.invalidateQueries({
        predicate: ({ queryKey: [name] }) => !COSTLY.has(String(name)) && (known || name !== "Recall"),
      });
    };
    const heard = (event: EventFragment) => {
      told.add(event.type);
      if (timer !== undefined) return;
      gathering = Date.now() - last < gathering ? Math.min(2 * gathering, LONGEST) : GATHERED;
      timer = window.setTimeout(read, gathering);
    };

    void watch(leaving.signal, heard, (now) => {
      setConnection((before) => {
        if (before !== "live" && now === "live") refresh(client);
        return now;
      });
    });
    return () => {
      leaving.abort();
      window.clearTimeout(timer);
    };
  }, [client]);
  return <Connected value={connection}>{children}</Connected>;
}

async function watch(signal: AbortSignal, heard: (event: EventFragment) => void, say: (now: Connection) => void) {
  while (!signal.aborted) {
    const now = await knows(signal);
    if (signal.aborted) return;
    say(now);
    try {
      if (now === "live") {
        for await (const event of helix.subscribe(EventsDocument, {}, signal)) heard(event);
      } else if (await follow(signal)) return; // the page goes to where the daemon is
    } catch {
      // whatever broke off, the next turn finds out how things stand
    }
    await pause(signal);
  }
}

/** Returns whether the daemon answers, and knows this page: one that was started anew does not. */
async function knows(signal: AbortSignal): Promise<Connection> {
  try {
    const answer = await fromDaemon("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"query":"{ __typename }"}',
      signal,
    });
    return answer.ok ? "live" : "stranger";
  } catch (error) {
    return error instanceof NotTheDaemon ? "stranger" : "away";
  }
}

const pause = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    window.setTimeout(done, PATIENCE);
    signal.addEventListener("abort", () => done(), { once: true });
  });
