/** A memory's kind, who says it and how it stands, each in a word. */
import type { Kind, MemoryFragment, Status, Trust } from "helix-memory";

import { plain } from "./text";

const SAYS: Record<string, string> = {
  you: "You said it or confirmed it.",
  verified: "Tests or builds bore it out.",
  agent: "An agent wrote it; nobody has confirmed it.",
  commit: "It comes from the history of a repository.",
  notes: "It comes from notes of a repository.",
  tool: "A tool wrote it; nobody has confirmed it.",
  web: "It comes from the web; nobody has confirmed it.",
};

export function KindBadge({ kind }: { kind: Kind | string }) {
  return <span className={`badge kind ${kind.toLowerCase()}`}>{plain(kind)}</span>;
}

export function SaidBy({ who }: { who: string }) {
  return who ? (
    <span className={`badge said ${who}`} title={SAYS[who]}>
      {who}
    </span>
  ) : null;
}

export function StatusBadge({ status }: { status: Status }) {
  return status === "ACTIVE" ? null : <span className={`badge status ${status.toLowerCase()}`}>{plain(status)}</span>;
}

/** How a memory is marked in a list: kind, who says it, status, and how much evidence there is. */
export function Badges({ memory }: { memory: MemoryFragment }) {
  return (
    <span className="badges">
      <KindBadge kind={memory.kind} />
      <SaidBy who={memory.saidBy} />
      <StatusBadge status={memory.status} />
      {memory.confidenceLabel && (
        <span className="badge evidence" title="Of the tasks that used it, by how they ended and what people said; older ones count less.">
          helped {memory.confidenceLabel.replace(/[[\]]/g, "")}
        </span>
      )}
    </span>
  );
}

const TRUST_OF: Record<string, Trust> = {
  you: "USER_ASSERTED",
  verified: "VERIFIED_OUTCOME",
  agent: "AGENT_INFERRED",
  tool: "TOOL_OUTPUT",
  web: "WEB",
};
export const TRUSTS: readonly Trust[] = Object.values(TRUST_OF);
export const trustWord = (trust: string): string =>
  Object.keys(TRUST_OF).find((word) => TRUST_OF[word] === trust) ?? plain(trust);
