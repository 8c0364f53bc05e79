/** The page of one memory: as in the list's panel, and its effect over time. */
import { EffectDocument } from "helix-memory";
import { useParams } from "react-router";

import { useAnswer } from "../api";
import { OutcomeBars } from "../parts/outcomes";
import { Show } from "../parts/states";
import { Detail, useTitle } from "./Detail";

export function MemoryView() {
  const { name = "" } = useParams();
  useTitle(name);
  return (
    <div className="page two">
      <Detail nameOrId={name} />
      <Over nameOrId={name} />
    </div>
  );
}

function Over({ nameOrId }: { nameOrId: string }) {
  const effect = useAnswer(EffectDocument, { nameOrId });
  if (effect.error && !effect.data) return null; // what is wrong with the memory stands beside it
  return (
    <section aria-label="Its effect over time">
      <h2>Its effect over time</h2>
      <Show of={effect} what="its effect">
        {(found) =>
          found.shown === 0 ? (
            <p className="muted">
              No agent has been shown it yet. It is shown where a task, a command or a file fits it, and this page counts what came of it.
            </p>
          ) : (
            <OutcomeBars periods={found.periods} />
          )
        }
      </Show>
    </section>
  );
}

