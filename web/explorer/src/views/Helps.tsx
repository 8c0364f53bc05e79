/** Whether memory helps: tasks with it against tasks without, what was harmed, and which memories carry it. */
import { ReportDocument } from "helix-memory";
import type { LiftFragment, ReportFragment, ShareFragment } from "helix-memory";
import { Link } from "react-aria-components";
import { Area, Bar, BarChart, CartesianGrid, ComposedChart, Legend, Line as Curve, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";

import { useAddress, useLink, useScope } from "../address";
import { useAnswer } from "../api";
import { DateField } from "../parts/controls";
import { startOf } from "../parts/days";
import { Empty, Show } from "../parts/states";
import { Table } from "../parts/table";
import { count } from "../parts/text";

const percent = (value: number): string => `${(100 * value).toFixed(0)} %`;

export default function Helps() {
  const scope = useScope();
  const address = useAddress();
  const since = address.get("since");
  const report = useAnswer(ReportDocument, { scope, since: startOf(since) });
  return (
    <div className="page">
      <h1>Does it help?</h1>
      <div className="row">
        <DateField label="since" value={since} onChange={(day) => address.set({ since: day })} />
      </div>
      <Show of={report} what="the report">
        {(found) => (found.withMemory.tasks + found.heldBack.tasks + found.undrawn.tasks === 0 ? <NoTasks holdback={found.holdback} /> : <Report report={found} />)}
      </Show>
    </div>
  );
}

function NoTasks({ holdback }: { holdback: number }) {
  return (
    <Empty title="No task has ended yet.">
      <p>
        Connected agents record their tasks. Tests, builds and linters decide how each one went.{" "}
        {holdback > 0
          ? `${percent(holdback)} of the tasks are shown no memory, so that the two can be compared.`
          : "No task is held back (setting holdback is 0), so nothing can be compared."}
      </p>
      <p>
        <code>helix connect all</code> connects your agents; <code>helix verify</code> says whether their work is learned from.
      </p>
    </Empty>
  );
}

/** The answer in a sentence; what it rests on stands below it. */
function verdict({ delivered }: ReportFragment): string {
  if (!delivered) return "It cannot be said yet.";
  if (!delivered.sure) return "No difference is shown yet.";
  return delivered.value > 0 ? "Yes: with memory, more tasks are delivered." : "No: with memory, fewer tasks are delivered.";
}

function Report({ report }: { report: ReportFragment }) {
  return (
    <>
      <h2>{verdict(report)}</h2>
      <ul className="says">
        {report.says.map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
      {report.undrawn.tasks > 0 && (
        <p>
          {count(report.undrawn.tasks, "task")} {report.undrawn.tasks === 1 ? "was" : "were"} shown memories while nothing was held
          out. They prove nothing, as there is nothing to compare them with.
        </p>
      )}
      <section className="cards-row" aria-label="Figures">
        <Figure title="Delivered, with memory" share={report.withMemory.delivered} />
        <Figure title="Delivered, without" share={report.heldBack.delivered} />
        <Lifted title="Lift: delivered" lift={report.delivered} />
        <Figure title="Failures repeated, with memory" share={report.withMemory.repeated} lower />
        <Figure title="Failures repeated, without" share={report.heldBack.repeated} lower />
        <Lifted title="Lift: failures repeated" lift={report.repeated} lower />
      </section>
      <h2>Harm</h2>
      <section className="cards-row" aria-label="Harm in figures">
        <Figure title="Used, and the task failed" share={report.harm.failedShare} lower />
      </section>
      <p>
        {count(report.harm.blocked, "task")} that had been shown memories {report.harm.blocked === 1 ? "was" : "were"} blocked. Of{" "}
        {count(report.harm.shown, "showing")}, {report.harm.failed} {report.harm.failed === 1 ? "was" : "were"} used in a task that failed, and {report.harm.unused} {report.harm.unused === 1 ? "was" : "were"} not used.
      </p>
      {report.periods.length > 0 && (
        <>
          <h2>Over time</h2>
          <Curves
            title="Share of tasks delivered"
            points={report.periods.map((one) => point(one.start, one.withDeliveredShare, one.withoutDeliveredShare))}
          />
          <Curves
            title="Share of tasks that met a failure known before (lower is better)"
            points={report.periods.map((one) => point(one.start, one.withRepeatedShare, one.withoutRepeatedShare))}
          />
          <figure className="chart" aria-label="Tokens shown, by period">
            <ResponsiveContainer width="100%" height={160}>
              <BarChart data={report.periods.map(({ start, tokens }) => ({ day: start.slice(0, 10), tokens }))}>
                <XAxis dataKey="day" />
                <YAxis width={54} />
                <Tooltip />
                <Bar dataKey="tokens" fill="var(--accent)" isAnimationActive={false} />
              </BarChart>
            </ResponsiveContainer>
            <figcaption className="small muted">
              Tokens shown; {report.withMemory.tokensPerTask.toFixed(0)} for a task on average
            </figcaption>
          </figure>
        </>
      )}
      <Leaders report={report} />
    </>
  );
}

/** Two shares of one day or week, with their intervals; a gap where no task of a kind ended. */
const point = (start: string, here: ShareFragment, there: ShareFragment) => ({
  day: start.slice(0, 10),
  "with memory": here.value,
  without: there.value,
  "with memory, 95 %": here.value === null ? null : [here.low, here.high],
  "without, 95 %": there.value === null ? null : [there.low, there.high],
});

const spoken = (value: unknown): string =>
  Array.isArray(value) ? value.map((one) => percent(Number(one))).join(" to ") : typeof value === "number" ? percent(value) : "";

/** The shares of both arms over time, each in the band of its interval. */
function Curves({ title, points }: { title: string; points: readonly ReturnType<typeof point>[] }) {
  return (
    <figure className="chart" aria-label={`${title}, by period`}>
      <ResponsiveContainer width="100%" height={220}>
        <ComposedChart data={[...points]}>
          <CartesianGrid strokeDasharray="3 3" vertical={false} />
          <XAxis dataKey="day" />
          <YAxis tickFormatter={percent} domain={[0, 1]} width={54} />
          <Tooltip formatter={spoken} />
          <Legend />
          <Area dataKey="with memory, 95 %" fill="var(--accent)" fillOpacity={0.15} stroke="none" isAnimationActive={false} legendType="none" />
          <Area dataKey="without, 95 %" fill="var(--muted)" fillOpacity={0.15} stroke="none" isAnimationActive={false} legendType="none" />
          <Curve dataKey="with memory" stroke="var(--accent)" connectNulls isAnimationActive={false} />
          <Curve dataKey="without" stroke="var(--muted)" strokeDasharray="7 4" connectNulls isAnimationActive={false} />
        </ComposedChart>
      </ResponsiveContainer>
      <figcaption className="small muted">{title}; the bands are 95 % intervals</figcaption>
    </figure>
  );
}

/** A share with its interval, as a line with a dot. */
function Figure({ title, share, lower = false }: { title: string; share: ShareFragment; lower?: boolean }) {
  return (
    <div className="figure-card">
      <h3>{title}</h3>
      {share.value === null ? (
        <p className="muted">no case yet</p>
      ) : (
        <>
          <p className="big">{percent(share.value)}</p>
          <Interval low={share.low} high={share.high} value={share.value} from={0} to={1} />
          <p className="small muted">
            {share.hits} of {share.cases}; 95 %: {percent(share.low)} to {percent(share.high)}
            {lower && "; lower is better"}
          </p>
        </>
      )}
    </div>
  );
}

function Lifted({ title, lift, lower = false }: { title: string; lift: LiftFragment | null; lower?: boolean }) {
  return (
    <div className="figure-card">
      <h3>{title}</h3>
      {lift === null ? (
        <p className="muted">not enough cases yet</p>
      ) : (
        <>
          <p className="big">
            {lift.value > 0 ? "+" : ""}
            {(100 * lift.value).toFixed(0)} points
          </p>
          <Interval low={lift.low} high={lift.high} value={lift.value} from={-1} to={1} />
          <p className="small muted">
            95 %: {(100 * lift.low).toFixed(0)} to {(100 * lift.high).toFixed(0)}; {lift.sure ? "sure" : "not sure yet"}
            {lower && "; below zero is better"}
          </p>
        </>
      )}
    </div>
  );
}

function Interval({ low, high, value, from, to }: { low: number; high: number; value: number; from: number; to: number }) {
  const at = (one: number) => (100 * (Math.min(to, Math.max(from, one)) - from)) / (to - from);
  return (
    <svg className="interval" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <line x1="0" x2="100" y1="5" y2="5" className="axis" />
      {from < 0 && <line x1={at(0)} x2={at(0)} y1="0" y2="10" className="axis" />}
      <line x1={at(low)} x2={at(high)} y1="5" y2="5" className="range" />
      <rect x={at(value) - 0.8} width="1.6" y="1" height="8" className="point" />
    </svg>
  );
}

function Leaders({ report }: { report: ReportFragment }) {
  const link = useLink();
  if (!report.leaders.length) return null;
  return (
    <>
      <h2>Memories that were shown</h2>
      <Table label="Memories that were shown">
        <thead>
          <tr>
            <th scope="col">Memory</th>
            <th scope="col">Kind</th>
            <th scope="col">Shown</th>
            <th scope="col">Went well</th>
            <th scope="col">Did not</th>
            <th scope="col">Not used</th>
            <th scope="col">Withheld</th>
          </tr>
        </thead>
        <tbody>
          {report.leaders.map((leader) => (
            <tr key={leader.memoryId}>
              <td>
                <Link className="link" href={link(`/memory/${leader.memoryId}`)}>
                  <bdi>{leader.name}</bdi>
                </Link>
              </td>
              <td>{leader.kind}</td>
              <td>{leader.shown}</td>
              <td>{leader.helped}</td>
              <td>{leader.failed}</td>
              <td>{leader.unused}</td>
              <td>{leader.withheld}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </>
  );
}
