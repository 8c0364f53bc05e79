/** A memory's kind, who says it and how it stands, each in a word. */
import type { Kind, MemoryFragment, Status, Trust } from "helix-memory";

import { plain } from "./text";

/** Each word that says where something comes from: its class of trust, and what it means. */
const WORDS: Readonly<Record<string, readonly [Trust, string]>> = {
  you: ["USER_ASSERTED", "You said it or confirmed it."],
  verified: ["VERIFIED_OUTCOME", "Tests or builds bore it out."],
  agent: ["AGENT_INFERRED", "An agent wrote it; nobody has confirmed it."],
  commit: ["TOOL_OUTPUT", "It comes from the history of a repository."],
  notes: ["TOOL_OUTPUT", "It comes from notes of a repository."],
  tool: ["TOOL_OUTPUT", "A tool wrote it; nobody has confirmed it."],
  web: ["WEB", "It comes from the web; nobody has confirmed it."],
};

export function KindBadge({ kind }: { kind: Kind | string }) {
  return <span className={`badge kind ${kind.toLowerCase()}`}>{plain(kind)}</span>;
}

export function SaidBy({ who }: { who: string }) {
  return who ? (
    <span className={`badge said ${who}`} title={WORDS[who]?.[1]}>
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

export const TRUSTS: readonly Trust[] = [...new Set(Object.values(WORDS).map(([trust]) => trust))];

/** Returns the words of a class of trust, as they stand beside memories. */
export const wordsOf = (trust: string): string =>
  Object.keys(WORDS).filter((word) => WORDS[word]?.[0] === trust).join(", ") || plain(trust);
