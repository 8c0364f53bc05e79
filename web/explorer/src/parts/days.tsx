/** Days of UTC: as bars of how much came in on each, where a bar narrows the view to its days, and as moments. */
import { useMemo } from "react";
import { Button, Tooltip, TooltipTrigger } from "react-aria-components";

export type TimeOf = "HAPPENED" | "RECORDED";

/** By which time a view lists and narrows: its address says `time=recorded`, or nothing for when things happened. */
export const timeOf = (word: string): TimeOf => (word === "recorded" ? "RECORDED" : "HAPPENED");

interface Day {
  day: string;
  number: number;
}

const MOST_BARS = 60;
const DAY = 86_400_000;

interface Bar {
  first: string;
  last: string;
  number: number;
}

/** Returns whether a text, such as one of an address that somebody wrote by hand, is a day: 2026-11-26. */
export const isDay = (day: string): boolean => /^[1-9]\d{3}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day));

/** Returns the first moment of a day as a time of the schema; null for what is no day. */
export const startOf = (day: string): string | null => (isDay(day) ? new Date(`${day}T00:00:00Z`).toISOString() : null);

/** Returns the last moment of a day as a time of the schema; null for what is no day. */
export const endOf = (day: string): string | null => (isDay(day) ? new Date(`${day}T23:59:59.999Z`).toISOString() : null);

/** Says from which day to which. */
export const span = (first: string, last: string): string =>
  first === last ? first : [first && `from ${first}`, last && `to ${last}`].filter(Boolean).join(" ");

/** Returns bars of equal length in days, at most MOST_BARS, without gaps. */
export function barsOf(days: readonly Day[]): Bar[] {
  const times = days.map(({ day }) => Date.parse(day)).sort((a, b) => a - b);
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined) return [];
  const width = Math.max(1, Math.ceil((last - first + DAY) / DAY / MOST_BARS));
  const bars: Bar[] = [];
  for (let start = first; start <= last; start += width * DAY)
    bars.push({ first: iso(start), last: iso(start + (width - 1) * DAY), number: 0 });
  for (const { day, number } of days) {
    const bar = bars[Math.floor((Date.parse(day) - first) / DAY / width)];
    if (bar) bar.number += number;
  }
  return bars;
}

const iso = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Returns the day that was so many days before today. */
export const daysAgo = (days: number): string => iso(Date.now() - days * DAY);

/** `label` says what is shown, `said` a number of them. */
export function Days({
  days,
  label,
  said,
  onPick,
}: {
  days: readonly Day[];
  label: string;
  said: (number: number) => string;
  onPick: (since: string, until: string) => void;
}) {
  const bars = useMemo(() => barsOf(days), [days]);
  const most = Math.max(1, ...bars.map(({ number }) => number));
  if (bars.length < 2) return null;
  return (
    <>
      <div className="days" role="group" aria-label={label}>
        {bars.map((bar) => {
          const words = `${span(bar.first, bar.last)}: ${said(bar.number)}`;
          return (
            <TooltipTrigger key={bar.first} delay={100}>
              <Button className="day" aria-label={words} onPress={() => onPick(bar.first, bar.last)}>
                <svg viewBox="0 0 10 40" preserveAspectRatio="none" aria-hidden="true">
                  <Column height={bar.number && Math.max(2, (40 * bar.number) / most)} />
                </svg>
              </Button>
              <Tooltip className="tooltip">{words}</Tooltip>
            </TooltipTrigger>
          );
        })}
      </div>
      <p className="days-ends muted small" aria-hidden="true">
        <span>{bars[0]?.first}</span>
        <span>{label}</span>
        <span>{days.map(({ day }) => day).sort().at(-1)}</span>
      </p>
    </>
  );
}

const Column = ({ height }: { height: number }) => <rect x="1" width="8" y={40 - height} height={height} rx="1" />;
