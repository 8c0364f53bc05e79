/** A plan: its tasks as a graph of what waits for what, each with how it went and on what evidence. */
import { PlanDocument } from "helix-memory";
import type { PlanTaskFragment } from "helix-memory";
import { useMemo } from "react";
import { Button } from "react-aria-components";
import { useParams } from "react-router";

import { useAddress } from "../address";
import { useAnswer } from "../api";
import { Panel } from "../parts/panel";
import { Show } from "../parts/states";
import { count, cut, Line, Time, Words } from "../parts/text";
import { useTitle } from "./Detail";
import { TaskDetail } from "./TaskView";

export function PlanView() {
  const { id = "" } = useParams();
  const plan = useAnswer(PlanDocument, { id });
  const address = useAddress();
  const chosen = address.get("task");
  useTitle("Plan");
  return (
    <div className="page">
      <Show of={plan} what="the plan">
        {(found) => (
          <>
            <h1>
              <Line text={found.plan.objective} />
            </h1>
            <p className="muted small">
              {count(found.taskCount, "task")}, {found.plan.status}, <Time at={found.plan.recordedAt} />
            </p>
            {found.problems.map((problem) => (
              <p key={problem} className="edge">
                {problem}
              </p>
            ))}
            <div className={chosen ? "split" : ""}>
              <Dependencies tasks={found.tasks} chosen={chosen} onChoose={(task) => address.set({ task: task === chosen ? null : task })} />
              {chosen && <Task id={chosen} task={found.tasks.find((task) => task.id === chosen)} close={() => address.set({ task: null })} />}
            </div>
          </>
        )}
      </Show>
    </div>
  );
}

const WIDTH = 220;
const HEIGHT = 56;
const GAP = 40;

/** Returns each task's column: one more than the last of those that it waits for. */
export function columnsOf(tasks: readonly PlanTaskFragment[]): Map<string, number> {
  const byName = new Map(tasks.flatMap((task) => [[task.seq, task] as const, [task.slug, task] as const, [task.id, task] as const]));
  const columns = new Map<string, number>();
  const column = (task: PlanTaskFragment, above: ReadonlySet<string>): number => {
    const known = columns.get(task.id);
    if (known !== undefined) return known;
    if (above.has(task.id)) return 0; // a ring: it begins somewhere
    const before = task.depends.map((name) => byName.get(name)).filter((one) => one !== undefined);
    const found = Math.max(-1, ...before.map((one) => column(one, new Set([...above, task.id])))) + 1;
    columns.set(task.id, found);
    return found;
  };
  for (const task of tasks) column(task, new Set());
  return columns;
}

function Dependencies({ tasks, chosen, onChoose }: { tasks: readonly PlanTaskFragment[]; chosen: string; onChoose: (id: string) => void }) {
  const { places, width, height } = useMemo(() => {
    const columns = columnsOf(tasks);
    const rows = new Map<number, number>();
    const found = new Map<string, { x: number; y: number }>();
    for (const task of tasks) {
      const column = columns.get(task.id) ?? 0;
      const row = rows.get(column) ?? 0;
      rows.set(column, row + 1);
      found.set(task.id, { x: column * (WIDTH + GAP), y: row * (HEIGHT + 16) });
    }
    return {
      places: found,
      width: Math.max(1, ...columns.values()) * (WIDTH + GAP) + WIDTH + GAP,
      height: Math.max(1, ...rows.values()) * (HEIGHT + 16),
    };
  }, [tasks]);
  const named = new Map(tasks.flatMap((task) => [[task.seq, task.id] as const, [task.slug, task.id] as const]));
  return (
    <div className="scroll">
      <div className="dag" style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true">
          {tasks.flatMap((task) =>
            task.depends.map((name) => {
              const from = places.get(named.get(name) ?? "");
              const to = places.get(task.id);
              if (!from || !to) return null;
              const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
              const middle = (x1 + x2) / 2;
              return <path key={`${name} ${task.id}`} d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`} />;
            }),
          )}
        </svg>
        {tasks.map((task) => {
          const place = places.get(task.id) ?? { x: 0, y: 0 };
          return (
            <Button
              key={task.id}
              className={`task ${task.outcome || task.status} ${task.id === chosen ? "open" : ""}`}
              style={{ left: place.x, top: place.y, width: WIDTH, height: HEIGHT }}
              aria-expanded={task.id === chosen}
              onPress={() => onChoose(task.id)}
            >
              <strong>{task.seq}</strong> {cut(task.objective, 70)}
              <span className="small muted">
                {task.outcome || task.status}
                {task.depends.length > 0 && `, after ${task.depends.join(", ")}`}
              </span>
            </Button>
          );
        })}
      </div>
    </div>
  );
}

function Task({ id, task, close }: { id: string; task: PlanTaskFragment | undefined; close: () => void }) {
  return (
    <Panel of={id} label="One task" close={close}>
      {task && (
        <>
          <h2>
            {task.seq} <bdi>{task.slug}</bdi>
          </h2>
          <Words text={task.objective} />
          {task.delivered && (
            <>
              <h3>What was delivered</h3>
              <Words text={task.delivered} />
            </>
          )}
          {task.verify && (
            <p>
              Checked by <code>{cut(task.verify, 200)}</code>
            </p>
          )}
        </>
      )}
      <TaskDetail id={id} />
    </Panel>
  );
}
