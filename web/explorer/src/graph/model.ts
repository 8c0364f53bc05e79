/** The graph that is drawn: nodes and edges by their ids, gathered from the answers of several questions. */
import type { GraphEdgeFragment, GraphNodeFragment, Label } from "helix-memory";

export interface Node extends GraphNodeFragment {
  id: string;
  /** 0 to 1: how hot the walk of a question is here. */
  heat: number;
  /** What is written in the picture, if that is not how its title begins. */
  short?: string;
  /** Edges in the whole graph. */
  degree: number;
}
export interface Edge extends GraphEdgeFragment {
  id: string;
}
export interface Drawn {
  nodes: Map<string, Node>;
  edges: Map<string, Edge>;
}

export const nothing = (): Drawn => ({ nodes: new Map(), edges: new Map() });

export function add(drawn: Drawn, nodes: readonly GraphNodeFragment[], edges: readonly GraphEdgeFragment[], heat?: Map<string, number>) {
  for (const node of nodes) {
    const id = node.ref.id;
    drawn.nodes.set(id, { ...node, id, heat: heat?.get(id) ?? drawn.nodes.get(id)?.heat ?? 0 });
  }
  for (const edge of edges) {
    const id = `${edge.source.id} ${edge.type} ${edge.relation} ${edge.target.id}`;
    drawn.edges.set(id, { ...edge, id });
  }
}

/** Returns what passes the filters and held at a moment (Infinity: ever); an edge needs both of its ends. */
export function filtered(drawn: Drawn, labels: readonly string[], relations: readonly string[], moment: number): Drawn {
  const held = (since: string | null, until: string | null) =>
    moment === Infinity || ((!since || Date.parse(since) <= moment) && (!until || Date.parse(until) > moment));
  const nodes = new Map(
    [...drawn.nodes].filter(([, { ref, at, heldUntil }]) => (!labels.length || labels.includes(ref.label)) && held(at, heldUntil)),
  );
  const edges = new Map(
    [...drawn.edges].filter(
      ([, edge]) =>
        nodes.has(edge.source.id) &&
        nodes.has(edge.target.id) &&
        (!relations.length || relations.includes(edge.type)) &&
        held(edge.heldSince, edge.heldUntil),
    ),
  );
  // What has no time of its own, such as a file, is there while anything that is there leads to it.
  const tied = new Set([...edges.values()].flatMap(({ source, target }) => [source.id, target.id]));
  for (const [id, { at }] of nodes) if (moment !== Infinity && !at && !tied.has(id)) nodes.delete(id);
  return { nodes, edges };
}

/** Returns the moments, in order, at which something of what is drawn began. */
export const beginnings = ({ nodes, edges }: Drawn): number[] =>
  [...[...nodes.values()].map(({ at }) => at), ...[...edges.values()].map(({ heldSince }) => heldSince)]
    .flatMap((at) => (at ? [Date.parse(at)] : []))
    .sort((a, b) => a - b);

export function counts(values: Iterable<string>): { value: string; count: number }[] {
  const found = new Map<string, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  return [...found].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
}

/** Colours that keep a contrast of 3 to 1 on both grounds, and differ for those who do not see all colours. */
export const COLOURS: Record<Label, string> = {
  MEMORY: "#6c5ce7",
  EPISODE: "#2b8aa6",
  REFLECTION: "#c2571a",
  ENTITY: "#6f7d2b",
  SESSION: "#8a6d9e",
  PLAN: "#b0406f",
  TASK: "#b0406f",
  EXPLORATION: "#7a7a7a",
  WORKSPACE: "#7a7a7a",
  CANDIDATE: "#9a7d0a",
};

/** Returns the colour of heat: grey where the walk hardly comes, red where it stays. */
export function heatColour(heat: number): string {
  const hot = Math.min(1, Math.max(0, heat)) ** 0.35;
  const [cold, warm] = [[128, 138, 158], [214, 54, 24]] as const; // WebGL reads no hsl()
  return `rgb(${cold.map((part, place) => Math.round(part + hot * ((warm[place] ?? 0) - part))).join(",")})`;
}

/** Returns how a node is coloured: by what it is, or by its heat where a question is walked. */
export const colourOf = ({ ref, heat }: Node, heated: boolean): string => (heated ? heatColour(heat) : COLOURS[ref.label]);

/** Returns what each colour of a picture means, in words. */
export function keyOf(drawn: Drawn, heated: boolean): { colour: string; words: string }[] {
  if (heated)
    return [
      { colour: heatColour(1), words: "where the walk of the question stays" },
      { colour: heatColour(0), words: "where it hardly comes" },
    ];
  const found = new Map<string, string[]>();
  for (const { value } of counts([...drawn.nodes.values()].map(({ ref }) => ref.label))) {
    const colour = COLOURS[value as Label];
    found.set(colour, [...(found.get(colour) ?? []), value.toLowerCase()]);
  }
  return [...found].map(([colour, words]) => ({ colour, words: words.join(", ") }));
}
