/** Texts of memories are data: drawn as they are, kept apart from the page's own direction, and cut where they are long. */
import { useState } from "react";
import { Button } from "react-aria-components";

const LONGEST = 1_200;

/** Returns the text up to a length, without half of a surrogate pair at its end. */
export const cut = (text: string, length: number): string => {
  if (text.length <= length) return text;
  const head = text.slice(0, length);
  return /[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head;
};

/** Returns the text, or of a longer one its beginning and an ellipsis: together no longer than the length. */
export const shortened = (text: string, length: number): string => (text.length <= length ? text : `${cut(text, length - 1)}…`);

/** A text of a memory; of a long one the beginning, and the rest when it is asked for. */
export function Words({ text, most = LONGEST, className = "" }: { text: string; most?: number; className?: string }) {
  const [whole, setWhole] = useState(false);
  const shown = whole ? text : cut(text, most);
  return (
    <bdi className={`words ${className}`} dir="auto">
      {shown}
      {shown.length < text.length && (
        <>
          …{" "}
          <Button className="link" onPress={() => setWhole(true)}>
            all {text.length.toLocaleString()} characters
          </Button>
        </>
      )}
    </bdi>
  );
}

/** The beginning of a text, where it stands in a button or a link: those hold no other button. */
export function Beginning({ text, most }: { text: string; most: number }) {
  const shown = cut(text, most);
  return (
    <bdi className="words" dir="auto">
      {shown}
      {shown.length < text.length && "…"}
    </bdi>
  );
}

/** One line of a text. */
export function Line({ text, most = 160 }: { text: string; most?: number }) {
  const line = text.trim().split("\n", 1)[0] ?? "";
  const shown = cut(line, most);
  return (
    <bdi className="line" dir="auto" title={shown.length < line.length ? cut(line, 1_000) : undefined}>
      {shown}
      {shown.length < text.trim().length && "…"}
    </bdi>
  );
}

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const A_DAY = 86_400_000;
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const FULL = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

export function ago(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000;
  const found = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  return found ? RELATIVE.format(Math.round(seconds / found[1]), found[0]) : "just now";
}

export const fullTime = (time: string): string => FULL.format(new Date(time));

/** A time as people say it; the exact one when pointed at. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return null;
  return (
    <time dateTime={at} title={fullTime(at)}>
      {ago(at)}
    </time>
  );
}

/** When something happened or began to hold, and when it was learned where that was at another time. */
export function When({ happened, recorded }: { happened: string | null | undefined; recorded: string }) {
  if (!happened || Math.abs(Date.parse(happened) - Date.parse(recorded)) < A_DAY) return <Time at={recorded} />;
  return (
    <>
      <Time at={happened} />, learned <Time at={recorded} />
    </>
  );
}

/** Returns a name of the schema as people read it: `SIMILAR_TO` as `similar to`. */
export const plain = (name: string): string => name.toLowerCase().replaceAll("_", " ");

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString()} ${number === 1 ? one : many}`;

export function bytes(size: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = size < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(size) / 3));
  return `${(size / 1000 ** power).toLocaleString("en", { maximumFractionDigits: power ? 1 : 0 })} ${units[power]}`;
}
