/** Why an item stands where it stands: what its score is made of, and which searches found it. */
import type { ArmHitFragment } from "helix-memory";

import { plain } from "./text";

export interface Figure {
  name: string;
  value: number;
}

const ARMS: Record<string, string> = {
  lexical: "words",
  vector: "meaning",
  yours: "yours",
  pagerank: "graph walk",
  files: "files",
  time: "time",
};

/** The score as bars: what is added up, then what it is multiplied by. Names begin with `+` or `*`. */
export function ScoreBars({ score, factors, arms }: { score: number; factors: readonly Figure[]; arms: readonly ArmHitFragment[] }) {
  const added = factors.filter(({ name }) => name.startsWith("+"));
  const times = factors.filter(({ name }) => name.startsWith("*"));
  const most = Math.max(1e-9, ...added.map(({ value }) => Math.abs(value)));
  return (
    <div className="score-bars">
      <table>
        <caption>What the score of {score.toFixed(3)} is made of</caption>
        <tbody>
          {added.map(({ name, value }) => (
            <Bar key={name} name={plain(name.slice(1))} said={`+ ${value.toFixed(3)}`} share={Math.abs(value) / most} />
          ))}
          {times.map(({ name, value }) => (
            <Bar
              key={name}
              name={plain(name.slice(1))}
              said={`× ${value.toFixed(3)}`}
              share={Math.min(1, Math.abs(Math.log2(Math.max(value, 1e-3))))}
              kind={value > 1.0005 ? "up" : value < 0.9995 ? "down" : "even"}
            />
          ))}
        </tbody>
      </table>
      <table>
        <caption>Which searches found it</caption>
        <tbody>
          {arms.map((hit) => (
            <Bar
              key={hit.arm}
              name={ARMS[hit.arm] ?? plain(hit.arm)}
              said={`rank ${hit.rank}, ${hit.score.toFixed(3)}`}
              share={1 / Math.sqrt(hit.rank)}
              kind="arm"
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Bar({ name, said, share, kind = "sum" }: { name: string; said: string; share: number; kind?: string }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td aria-hidden="true">
        <svg className={`bar ${kind}`} viewBox="0 0 100 8" preserveAspectRatio="none">
          <rect width={Math.max(1, 100 * share)} height="8" rx="1.5" />
        </svg>
      </td>
      <td className="figure">{said}</td>
    </tr>
  );
}
