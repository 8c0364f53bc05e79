/** What changed between two texts, word by word. */
import { diffWordsWithSpace } from "diff";

import { cut } from "./text";

const LONGEST = 20_000; // characters compared; the comparison takes time with their product

export function Changes({ before, after }: { before: string; after: string }) {
  if (before === after) return null;
  const parts = diffWordsWithSpace(cut(before, LONGEST), cut(after, LONGEST), { timeout: 500 });
  if (!parts) return <p className="muted">The texts differ in too much to show it word by word.</p>;
  return (
    <p className="diff" dir="auto">
      {parts.map((part, place) =>
        part.added ? (
          <ins key={place}>{part.value}</ins>
        ) : part.removed ? (
          <del key={place}>{part.value}</del>
        ) : (
          <span key={place}>{part.value}</span>
        ),
      )}
    </p>
  );
}
