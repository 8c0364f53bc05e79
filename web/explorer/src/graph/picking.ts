/** Finds what lies under the pointer by where things are drawn. Sigma reads it back from the picture, which holds up every frame where no graphics card draws. */
import type Sigma from "sigma";
import { NodeCircleProgram } from "sigma/rendering";

interface Point {
  x: number;
  y: number;
}

const NEAR = 3; // pixels beside a line that still are on it

/** Draws nodes once a frame: not a second time, in the colours by which sigma would tell them apart. */
export class Dots extends NodeCircleProgram {
  constructor(gl: WebGLRenderingContext, _picked: WebGLFramebuffer | null, sigma: Sigma) {
    super(gl, null, sigma);
  }
}

/** Has a picture find its nodes and edges so. */
export function pickByPlace(sigma: Sigma): void {
  Object.assign(sigma, {
    getNodeAtPosition: (at: Point) => nodeAt(sigma, at),
    getEdgeAtPoint: (x: number, y: number) => edgeAt(sigma, { x, y }),
  });
}

/** Returns the node whose middle is nearest of those that cover a point of the screen; those that are marked lie above. */
function nodeAt(sigma: Sigma, at: Point): string | null {
  const { point, pixel } = placeOf(sigma, at);
  let [found, rank]: [string | null, number] = [null, Infinity];
  sigma.getGraph().forEachNode((id) => {
    const shown = sigma.getNodeDisplayData(id);
    if (!shown || shown.hidden) return;
    const away = Math.hypot(shown.x - point.x, shown.y - point.y) / pixel;
    const own = away - 10_000 * shown.zIndex;
    if (away <= sigma.scaleSize(shown.size) && own < rank) [found, rank] = [id, own];
  });
  return found;
}

/** Returns the nearest edge whose line passes a point of the screen. */
function edgeAt(sigma: Sigma, at: Point): string | null {
  const { point, pixel } = placeOf(sigma, at);
  let [found, nearest]: [string | null, number] = [null, Infinity];
  sigma.getGraph().forEachEdge((id, _, source, target) => {
    const [from, to, shown] = [sigma.getNodeDisplayData(source), sigma.getNodeDisplayData(target), sigma.getEdgeDisplayData(id)];
    if (!from || !to || !shown || shown.hidden) return;
    const away = fromLine(point, from, to) / pixel;
    if (away <= Math.max(NEAR, sigma.scaleSize(shown.size) / 2) && away < nearest) [found, nearest] = [id, away];
  });
  return found;
}

/** Returns a point of the screen as places are told, and how much of these a pixel is. */
function placeOf(sigma: Sigma, at: Point): { point: Point; pixel: number } {
  const point = sigma.viewportToFramedGraph(at);
  const beside = sigma.viewportToFramedGraph({ x: at.x + 1, y: at.y });
  return { point, pixel: Math.hypot(beside.x - point.x, beside.y - point.y) };
}

function fromLine({ x, y }: Point, from: Point, to: Point): number {
  const [along, up] = [to.x - from.x, to.y - from.y];
  const length = along * along + up * up;
  const part = length && Math.max(0, Math.min(1, ((x - from.x) * along + (y - from.y) * up) / length));
  return Math.hypot(x - from.x - part * along, y - from.y - part * up);
}
