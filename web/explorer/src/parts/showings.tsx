/** When a memory was shown to a task: how it came there, where it stood, and what came of it. */
import type { ShowingFragment } from "helix-memory";
import { Link } from "react-aria-components";

import { sessionPath, useLink } from "../address";
import { Line, plain, Time } from "./text";

const CAME: Record<string, string> = {
  recall: "found for the task",
  action: "at a command or an edit",
  error: "after an error",
  brief: "as the session began",
  prompt: "for what the user wrote",
};

/** `by` says what each line leads to: the memory that was shown, or the task that it was shown to. */
export function Showings({ of, by }: { of: readonly ShowingFragment[]; by: "memory" | "task" }) {
  const link = useLink();
  return (
    <ul className="plain showings">
      {of.map((one) => (
        <li key={one.id}>
          <span className={`badge outcome ${one.outcome}`}>{one.withheld ? "held back" : plain(one.outcome) || "open"}</span>{" "}
          {by === "memory" ? (
            <Link className="link" href={link(`/memory/${one.memoryId}`)}>
              <bdi>{one.name || "a memory that is gone"}</bdi>
            </Link>
          ) : (
            <Link className="link" href={link(`/tasks/${one.task}`)}>
              <Line text={one.objective || "work outside of any task"} most={80} />
            </Link>
          )}{" "}
          <span className="muted small">
            {CAME[one.arm] ?? plain(one.arm)}, place {one.rank}, score {one.score.toFixed(2)}, <Time at={one.at} />
            {by === "task" && one.session && (
              <>
                , in{" "}
                <Link className="link" href={link(sessionPath(one.session))}>
                  session <bdi>{one.session}</bdi>
                </Link>
              </>
            )}
            {by === "memory" && one.objective && (
              <>
                , to{" "}
                <Link className="link" href={link(`/tasks/${one.task}`)}>
                  <Line text={one.objective} most={60} />
                </Link>
              </>
            )}
            {one.use.map((words) => (
              <span key={words}>; {words}</span>
            ))}
          </span>
        </li>
      ))}
    </ul>
  );
}
