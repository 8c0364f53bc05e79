/** How long answers take, from the daemon's own histograms at /metrics. */
import { useQuery } from "@tanstack/react-query";

import { fromDaemon } from "../../../shared/daemon";
import { Show } from "../parts/states";
import { Table } from "../parts/table";

export interface Latency {
  operation: string;
  count: number;
  median: number;
  p95: number;
}

/** Reads the histogram of operations; a quantile is the upper bound of the bucket that it falls into, in seconds. */
export function latenciesOf(text: string): Latency[] {
  const buckets = new Map<string, [number, number][]>();
  for (const [, operation = "", bound = "", count = ""] of text.matchAll(
    /^helix_operation_seconds_bucket\{(?=[^}]*operation="(\w+)")(?=[^}]*le="([^"]+)")[^}]*\} (\S+)$/gm,
  ))
    buckets.set(operation, [...(buckets.get(operation) ?? []), [bound === "+Inf" ? Infinity : Number(bound), Number(count)]]);
  const found = [...buckets].map(([operation, counts]) => {
    const total = counts.at(-1)?.[1] ?? 0;
    const at = (share: number) => counts.find(([, below]) => below >= share * total)?.[0] ?? Infinity;
    return { operation, count: total, median: at(0.5), p95: at(0.95) };
  });
  return found.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
}

const upTo = (seconds: number): string =>
  seconds === Infinity ? "over 30 s" : `≤ ${seconds < 1 ? `${(1000 * seconds).toLocaleString()} ms` : `${seconds} s`}`;

export function Latencies() {
  const metrics = useQuery({
    queryKey: ["Metrics"],
    queryFn: async ({ signal }) => latenciesOf(await (await fromDaemon("/metrics", { signal })).text()),
    refetchInterval: 10_000,
  });
  return (
    <Show of={metrics} what="how long answers take">
      {(found) => (
        <Table label="How long answers take">
          <thead>
            <tr>
              <th scope="col">Operation</th>
              <th scope="col">Answers</th>
              <th scope="col">Half of them within</th>
              <th scope="col">95 % within</th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, 12).map(({ operation, count, median, p95 }) => (
              <tr key={operation}>
                <td>{operation}</td>
                <td>{count.toLocaleString()}</td>
                <td>{upTo(median)}</td>
                <td>{upTo(p95)}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Show>
  );
}
