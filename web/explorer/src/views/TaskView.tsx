/** One task: what proves what came of it, what it was shown, and what was learned in it. */
import { TaskDocument } from "helix-memory";
import type { TaskReportFragment } from "helix-memory";
import { Link } from "react-aria-components";
import { useParams } from "react-router";

import { sessionPath, useLink } from "../address";
import { useAnswer } from "../api";
import { Showings } from "../parts/showings";
import { Show } from "../parts/states";
import { cut, Line, Time, Words } from "../parts/text";
import { useTitle } from "./Detail";

export function TaskView() {
  const { id = "" } = useParams();
  const link = useLink();
  const report = useAnswer(TaskDocument, { id });
  useTitle("Task");
  return (
    <div className="page">
      <Show of={report} what="the task">
        {(found) => (
          <>
            <h1>
              <Line text={found.task.objective || "Work outside of any task"} />
            </h1>
            <p className="muted small">
              {found.task.outcome || found.task.status}, <Time at={found.task.recordedAt} />, {found.task.scope}
              {found.task.session && (
                <>
                  ,{" "}
                  <Link className="link" href={link(sessionPath(found.task.session))}>
                    session <bdi>{found.task.session}</bdi>
                  </Link>
                </>
              )}
              {found.plan && (
                <>
                  ,{" "}
                  <Link className="link" href={link(`/plans/${found.plan}`, { task: found.task.id })}>
                    its plan
                  </Link>
                </>
              )}
            </p>
            <Words text={found.task.objective} />
            <Report report={found} />
          </>
        )}
      </Show>
    </div>
  );
}

/** What is kept of a task besides its words. */
export function TaskDetail({ id }: { id: string }) {
  const report = useAnswer(TaskDocument, { id }, { keep: false });
  return (
    <Show of={report} what="its evidence">
      {(found) => <Report report={found} />}
    </Show>
  );
}

function Report({ report: { evidence, showings, learned } }: { report: TaskReportFragment }) {
  const link = useLink();
  return (
    <>
      <h3>Evidence</h3>
      {evidence.length === 0 ? (
        <p className="muted">No test, build or linter was run for it.</p>
      ) : (
        <ul className="plain">
          {evidence.map((check, place) => (
            <li key={place}>
              <span className={`badge outcome ${check.passed ? "delivered" : "blocked"}`}>{check.passed ? "passed" : "failed"}</span>{" "}
              <code>{cut(check.command, 160)}</code> <span className="muted small"><Time at={check.at} /></span>
            </li>
          ))}
        </ul>
      )}
      <h3>What it was shown</h3>
      {showings.length === 0 ? <p className="muted">No memory.</p> : <Showings of={showings} by="memory" />}
      {learned.length > 0 && (
        <>
          <h3>What was learned in it</h3>
          <ul className="plain">
            {learned.map(({ id, name }) => (
              <li key={id}>
                <Link className="link" href={link(`/memory/${id}`)}>
                  <bdi>{name}</bdi>
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
