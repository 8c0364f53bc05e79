/** The page of one memory: as in the list's panel, and its effect over time. */
import { EffectDocument, ShowingsDocument } from "helix-memory";
import { useParams } from "react-router";

import { useAnswer, usePages } from "../api";
import { More } from "../parts/more";
import { OutcomeBars } from "../parts/outcomes";
import { Show } from "../parts/states";
import { Table } from "../parts/table";
import { Line, Time } from "../parts/text";
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
  const showings = usePages(ShowingsDocument, { nameOrId, first: 50 });
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
            <>
              <OutcomeBars periods={found.periods} />
              <Table label="To which tasks it was shown">
                <caption className="hidden">To which tasks it was shown</caption>
                <thead>
                  <tr>
                    <th scope="col">Task</th>
                    <th scope="col">When</th>
                    <th scope="col">Rank</th>
                    <th scope="col">Outcome</th>
                    <th scope="col">Use</th>
                  </tr>
                </thead>
                <tbody>
                  {showings.items.map((node) => (
                    <tr key={node.id}>
                      <td>
                        <Line text={node.objective || node.session} most={70} />
                      </td>
                      <td>
                        <Time at={node.at} />
                      </td>
                      <td>{node.rank}</td>
                      <td>{node.withheld ? "held out" : node.outcome || "open"}</td>
                      <td>{node.use.join(", ")}</td>
                    </tr>
                  ))}
                </tbody>
              </Table>
              <More of={showings} />
            </>
          )
        }
      </Show>
    </section>
  );
}

