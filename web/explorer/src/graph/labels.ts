/** Writes the names of nodes into the picture so that none covers another: the largest first, the rest when there is room. */
import type { NodeDisplayData, PartialButFor } from "sigma/types";

import { shortened } from "../parts/text";
import { isDark } from "../shell/theme";

type Named = PartialButFor<NodeDisplayData, "x" | "y" | "size" | "label" | "color">;

/** The colours of the page as they are now: of what is written, and of what is below it. */
const looks = () => (isDark() ? { ink: "#ececf3", ground: "#1c1c25" } : { ink: "#1d1d27", ground: "#ffffff" });

const SIZE = 12; // pixels of a letter
const LINE = 14; // pixels of a line
const FONT = `${SIZE}px system-ui, sans-serif`;
const GAP = 3;

/** Gathers what sigma would write in a frame, and writes of it what has room. */
export class Labels {
  private gathered: Named[] = [];
  private readonly widths = new Map<string, number>();

  /** `within`: names stand in the middle of their nodes, whatever these are like; else beside them. */
  constructor(private readonly within: boolean) {}

  /** What sigma calls for each name: kept until all of a frame are known. */
  readonly gather = (_: CanvasRenderingContext2D, node: Named): void => void this.gathered.push({ ...node });

  /** What sigma calls for a node that is pointed at or marked: its name on a ground of its own. */
  readonly point = (context: CanvasRenderingContext2D, node: Named): void => {
    if (!node.label) return;
    const box = this.box(context, node);
    const { ink, ground } = looks();
    context.fillStyle = ground;
    context.strokeStyle = node.color;
    context.lineWidth = 1.5;
    context.beginPath();
    context.roundRect(box.x - 5, box.y - 3, box.width + 10, box.height + 6, 5);
    context.fill();
    context.stroke();
    context.fillStyle = ink;
    eachLine(node.label, box, (line, x, y) => context.fillText(line, x, y));
  };

  /** Writes the names of a frame, and forgets them. */
  write(context: CanvasRenderingContext2D): void {
    const taken: Box[] = [];
    const nodes = this.gathered.sort((a, b) => Number(b.forceLabel ?? false) - Number(a.forceLabel ?? false) || b.size - a.size);
    this.gathered = [];
    const { ink, ground } = looks();
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = ground;
    context.fillStyle = ink;
    for (const node of nodes) {
      if (!node.label) continue;
      const box = this.box(context, node);
      if (taken.some((other) => touch(box, other))) continue;
      taken.push(box);
      eachLine(node.label, box, (line, x, y) => {
        context.strokeText(line, x, y);
        context.fillText(line, x, y);
      });
    }
  }

  /** Where a name stands: within its node, or right of it, or left of it where the picture ends. */
  private box(context: CanvasRenderingContext2D, { x, y, size, label }: Named): Box {
    const lines = (label ?? "").split("\n");
    const width = Math.max(...lines.map((line) => this.width(context, line)));
    const height = LINE * lines.length;
    const most = context.canvas.clientWidth;
    const right = x + size + GAP;
    const left = x - size - GAP - width;
    const start = this.within ? Math.max(GAP, Math.min(x - width / 2, most - width - GAP)) : right + width > most && left > 0 ? left : right;
    return { x: start, y: y - height / 2, width, height };
  }

  private width(context: CanvasRenderingContext2D, line: string): number {
    context.font = FONT;
    context.textAlign = "center";
    const known = this.widths.get(line);
    if (known !== undefined) return known;
    const { width } = context.measureText(line);
    this.widths.set(line, width);
    return width;
  }
}

/** Says where each line of a name is written: the middle of what is in a box with `textAlign` "center". */
const eachLine = (label: string, { x, y, width }: Box, write: (line: string, x: number, y: number) => void): void =>
  label.split("\n").forEach((line, place) => write(line, x + width / 2, y + LINE * place + SIZE - 1));

const WIDTH = 15; // characters of a line of a name that stands within its node

/** Returns a name on at most two lines, broken behind its spaces, dashes, dots and slashes. */
export function onTwoLines(name: string): string {
  const lines = [""];
  for (const word of name.match(/[^\s/._-]+[\s/._-]*|[\s/._-]+/g) ?? []) {
    const last = lines.length - 1;
    if (!lines[last] || (lines[last] + word.trimEnd()).length <= WIDTH) lines[last] += word;
    else lines.push(word);
  }
  const [first = "", ...rest] = lines.map((line) => line.trim());
  const second = rest.length > 1 ? `${rest[0] ?? ""}…` : rest[0];
  return [first, second].filter((line) => line !== undefined).map((line) => shortened(line, WIDTH + 3)).join("\n");
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const touch = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
