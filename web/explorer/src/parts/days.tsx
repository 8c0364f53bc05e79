/** How much came in on each day, as bars; a bar narrows the view to its days. */
import { useMemo } from "react";
import { Button, Tooltip, TooltipTrigger } from "react-aria-components";

import { count } from "./text";

export interface Day {
  day: string;
  memories: number;
  episodes: number;
}

const MOST_BARS = 60;
const DAY = 86_400_000;

interface Bar {
  first: string;
  last: string;
  memories: number;
  episodes: number;
}

/** Returns bars of equal length in days, at most MOST_BARS, without gaps. */
export function barsOf(days: readonly Day[]): Bar[] {
  const times = days.map(({ day }) => Date.parse(day)).sort((a, b) => a - b);
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined) return [];
  const width = Math.max(1, Math.ceil((last - first + DAY) / DAY / MOST_BARS));
  const bars: Bar[] = [];
  for (let start = first; start <= last; start += width * DAY)
    bars.push({ first: iso(start), last: iso(start + (width - 1) * DAY), memories: 0, episodes: 0 });
  for (const { day, memories, episodes } of days) {
    const bar = bars[Math.floor((Date.parse(day) - first) / DAY / width)];
    if (bar) {
      bar.memories += memories;
      bar.episodes += episodes;
    }
  }
  return bars;
}

const iso = (time: number): string => new Date(time).toISOString().slice(0, 10);

export function Days({ days, onPick }: { days: readonly Day[]; onPick: (since: string, until: string) => void }) {
  const bars = useMemo(() => barsOf(days), [days]);
  const most = Math.max(1, ...bars.map(({ memories }) => memories));
  if (bars.length < 2) return null;
  return (
    <div className="days" role="group" aria-label="When it was learned">
      {bars.map((bar) => {
        const span = bar.first === bar.last ? bar.first : `${bar.first} to ${bar.last}`;
        const said = `${span}: ${count(bar.memories, "memory", "memories")}`;
        return (
          <TooltipTrigger key={bar.first} delay={100}>
            <Button className="day" aria-label={said} onPress={() => onPick(bar.first, bar.last)}>
              <svg viewBox="0 0 10 40" preserveAspectRatio="none" aria-hidden="true">
                <Column height={bar.memories && Math.max(2, (40 * bar.memories) / most)} />
              </svg>
            </Button>
            <Tooltip className="tooltip">{said}</Tooltip>
          </TooltipTrigger>
        );
      })}
    </div>
  );
}

const Column = ({ height }: { height: number }) => <rect x="1" width="8" y={40 - height} height={height} rx="1" />;
