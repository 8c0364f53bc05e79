/** A stretch of time as an axis: spans in lanes, and below them what happened at moments; keys move and zoom it too. */
import { useRef, useState } from "react";
import { Button } from "react-aria-components";

/** A stretch of time, in milliseconds since the epoch. */
export interface Stretch {
  from: number;
  to: number;
}
export interface Span extends Stretch {
  id: string;
  name: string;
}
/** Something of a stretch, and how much of it there is. */
export interface Heap extends Stretch {
  number: number;
}

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const LEAST = 10 * MINUTE; // nothing shorter is looked at
const FIXED = [1, 5, 15, 60, 180, 720, 1_440, 2 * 1_440, 7 * 1_440].map((minutes) => minutes * MINUTE);
const MONTHS = [1, 3, 6, ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000].map((years) => 12 * years)];
const MOST_TICKS = 7;
const MOST_LANES = 6;
const LANE = 22; // pixels
const THIN = 0.8; // percent: nothing is drawn narrower
const NAMED = 8; // percent: what is narrower has no room for its name

interface Tick {
  at: number;
  words: string;
}

/** Returns the moments that an axis names, each with its words, in UTC as all days are. */
export function ticksOf({ from, to }: Stretch): Tick[] {
  const step = FIXED.find((one) => (to - from) / one <= MOST_TICKS);
  if (step === undefined) return monthTicks({ from, to });
  const found: Tick[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const words = new Date(at).toISOString();
    found.push({ at, words: at % DAY ? words.slice(11, 16) : words.slice(0, 10) });
  }
  return found;
}

function monthTicks({ from, to }: Stretch): Tick[] {
  const months = (to - from) / (30.4 * DAY);
  const stride = MONTHS.find((one) => months / one <= MOST_TICKS) ?? 24_000;
  const first = new Date(from).getUTCFullYear() * 12 + new Date(from).getUTCMonth() + 1;
  const found: Tick[] = [];
  for (let month = Math.ceil(first / stride) * stride; ; month += stride) {
    const at = new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12); // Date.UTC takes the year 50 for 1950
    if (at > to) return found;
    found.push({ at, words: new Date(at).toISOString().slice(0, stride % 12 ? 7 : 4) });
  }
}

/** Returns each span with a lane of its own as far as lanes reach; what does not fit lies in the last one. */
export function lanesOf(spans: readonly Span[], gap: number): { span: Span; lane: number }[] {
  const ends: number[] = [];
  return [...spans]
    .sort((a, b) => a.from - b.from)
    .map((span) => {
      const free = ends.findIndex((end) => end < span.from);
      const lane = free >= 0 ? free : Math.min(ends.length, MOST_LANES - 1);
      ends[lane] = Math.max(ends[lane] ?? 0, span.to + gap);
      return { span, lane };
    });
}

interface Props {
  label: string;
  /** All there is; null while it is not known. */
  whole: Stretch;
  shown: Stretch;
  spans: readonly Span[];
  heaps: readonly Heap[];
  /** Asks for another stretch, made from the newest that was asked for, which may not be shown yet; null is all. */
  onShow: (next: (now: Stretch) => Stretch | null) => void;
  onOpen: (id: string) => void;
}

export function Axis({ label, whole, shown: asked, spans, heaps, onShow, onOpen }: Props) {
  const grip = useRef<{ x: number; moved: boolean }>({ x: 0, moved: false });
  const [dragged, setDragged] = useState<Stretch | null>(null);
  const shown = dragged ?? asked;
  const length = shown.to - shown.from;
  const percent = (at: number) => (100 * (at - shown.from)) / length;
  const move = (by: number) => onShow(({ from, to }) => ({ from: from + by * (to - from), to: to + by * (to - from) }));
  const zoom = (by: number, around = 0.5) =>
    onShow(({ from, to }) => {
      const next = Math.max(LEAST, (to - from) * by);
      if (next >= whole.to - whole.from) return null;
      const middle = from + around * (to - from);
      return { from: middle - around * next, to: middle + (1 - around) * next };
    });
  const acts: Record<string, () => void> = {
    ArrowLeft: () => move(-0.25),
    ArrowRight: () => move(0.25),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    Home: () => onShow(() => null),
  };
  const laid = lanesOf(spans, 0.02 * length);
  const lanes = Math.max(1, ...laid.map(({ lane }) => lane + 1));
  const most = Math.max(1, ...heaps.map(({ number }) => number));
  return (
    <>
      <div
        className="axis"
        role="group"
        aria-label={`${label}. Left and right move it, plus and minus zoom, Home shows all.`}
        tabIndex={0}
        onKeyDown={(event) => {
          const act = acts[event.key];
          if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
          event.preventDefault();
          act();
        }}
        onPointerDown={(event) => void (grip.current = { x: event.clientX, moved: false })}
        onPointerMove={(event) => {
          const far = grip.current.x - event.clientX;
          if (!event.buttons || (Math.abs(far) < 4 && !dragged)) return;
          grip.current.moved = true;
          event.currentTarget.setPointerCapture(event.pointerId);
          const by = (far / event.currentTarget.clientWidth) * length;
          setDragged({ from: asked.from + by, to: asked.to + by });
        }}
        onPointerUp={() => {
          if (dragged) onShow(() => dragged);
          setDragged(null);
        }}
        onDoubleClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          zoom(0.5, (event.clientX - box.left) / box.width);
        }}
      >
        <div className="axis-lanes" aria-hidden="true" style={{ height: lanes * LANE }}>
          {laid.map(({ span, lane }) => {
            const width = Math.max(THIN, percent(span.to) - percent(span.from));
            return (
              <div key={span.id} className="axis-span" title={span.name} style={{ left: `${percent(span.from)}%`, width: `${width}%`, top: lane * LANE }} onClick={() => grip.current.moved || onOpen(span.id)}>
                {width > NAMED && span.name}
              </div>
            );
          })}
        </div>
        <div className="axis-heaps" aria-hidden="true">
          {heaps.map((heap) => (
            <div
              key={`${heap.from} ${heap.to}`}
              className="axis-heap"
              style={{
                left: `${percent(heap.from)}%`,
                width: `max(3px, ${percent(heap.to) - percent(heap.from)}% - 1px)`,
                height: `${Math.max(8, (100 * heap.number) / most)}%`,
              }}
            />
          ))}
        </div>
        <div className="axis-ticks" aria-hidden="true">
          {ticksOf(shown).map(({ at, words }) => (
            <span key={at} className="axis-tick" style={{ left: `${percent(at)}%` }}>
              {words}
            </span>
          ))}
        </div>
      </div>
      <div className="row">
        {(
          [
            ["← Earlier", () => move(-0.5)],
            ["Later →", () => move(0.5)],
            ["Closer", () => zoom(0.5)],
            ["Farther", () => zoom(2)],
          ] as const
        ).map(([words, act]) => (
          <Button key={words} className="button quiet" onPress={act}>
            {words}
          </Button>
        ))}
        <Button className="button quiet" onPress={() => onShow(() => null)}>
          Everything
        </Button>
      </div>
    </>
  );
}
