/** Places the nodes of a graph by ForceAtlas2, away from the page's own thread. */
import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

export interface Asked {
  nodes: { id: string; x: number; y: number; size: number }[];
  edges: { source: string; target: string; weight: number }[];
}
export type Placed = Record<string, { x: number; y: number }>;

onmessage = ({ data }: MessageEvent<Asked>) => {
  const graph = new Graph({ multi: true });
  for (const { id, ...place } of data.nodes) graph.addNode(id, place);
  for (const { source, target, weight } of data.edges) graph.addEdge(source, target, { weight });
  const settings = { ...forceAtlas2.inferSettings(graph), adjustSizes: graph.order < 600, barnesHutOptimize: graph.order > 300 };
  const iterations = Math.round(Math.min(400, 150_000 / Math.max(1, graph.order)));
  postMessage(forceAtlas2(graph, { iterations, settings }) satisfies Placed);
};
