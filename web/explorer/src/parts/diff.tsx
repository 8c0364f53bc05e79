/** What changed between two texts: word by word, or where too much did, line by line, or else both whole. */
import { diffLines, diffWordsWithSpace } from "diff";
import { useEffect, useMemo, useRef, useState } from "react";

import { cut } from "./text";

interface Texts {
  before: string;
  after: string;
}

const LONGEST = 20_000; // characters compared
const BOUND = { maxEditLength: 300 }; // words or lines that came or went: the comparison takes time with their square

function partsOf({ before, after }: Texts) {
  const [left, right] = [cut(before, LONGEST), cut(after, LONGEST)];
  const whole = [
    { value: left, removed: true, added: false },
    { value: right, removed: false, added: true },
  ];
  return diffWordsWithSpace(left, right, BOUND) ?? diffLines(left, right, BOUND) ?? whole;
}

export function Changes({ before, after }: Texts) {
  return before === after ? null : <Difference before={before} after={after} />;
}

/** Two texts are compared once they come into sight: a page may hold a hundred pairs of long ones. */
function Difference({ before, after }: Texts) {
  const box = useRef<HTMLParagraphElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const sight = new IntersectionObserver((found) => found.some((one) => one.isIntersecting) && setSeen(true));
    if (box.current) sight.observe(box.current);
    return () => sight.disconnect();
  }, []);
  const parts = useMemo(() => (seen ? partsOf({ before, after }) : []), [seen, before, after]);
  return (
    <p className="diff" dir="auto" ref={box}>
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
