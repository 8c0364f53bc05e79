/** Draws a graph by WebGL (sigma). What is drawn stands in a list beside it too, which those read who do not see it. */
import Graph from "graphology";
import { useEffect, useRef, useState } from "react";
import Sigma from "sigma";

import { cut } from "../parts/text";
import { isDark } from "../shell/theme";
import type { Asked, Placed } from "./layout.worker";
import { COLOURS, heatColour } from "./model";
import type { Drawn } from "./model";

export type Places = Record<string, { x: number; y: number }>;

const LONGEST = 36; // characters of a title in the picture; the list beside it has the whole

interface Props {
  drawn: Drawn;
  chosen: string;
  chosenEdge: string;
  path: ReadonlySet<string>;
  heated: boolean;
  /** Where nodes lie, if the answer says so; else they are placed here. */
  places?: Places | undefined;
  onChoose: (id: string) => void;
  onWiden: (id: string) => void;
  onEdge: (id: string) => void;
  /** Is given what is needed to write a picture. */
  onReady: (sigma: Sigma | null) => void;
}

export function Canvas(props: Props) {
  const { drawn, places, onReady } = props;
  const box = useRef<HTMLDivElement>(null);
  const sigma = useRef<Sigma | null>(null);
  const now = useRef(props);
  now.current = props;
  const [placing, setPlacing] = useState(false);

  useEffect(() => {
    const graph = new Graph({ multi: true });
    const made = new Sigma(graph, box.current as HTMLDivElement, {
      allowInvalidContainer: true,
      enableEdgeEvents: true,
      labelRenderedSizeThreshold: 5,
      labelFont: "system-ui, sans-serif",
      labelSize: 12,
      defaultEdgeColor: "#9a9aa8",
      zIndex: true,
      nodeReducer: (id, data) => {
        const { chosen, path } = now.current;
        const marked = id === chosen || path.has(id);
        return { ...data, highlighted: marked, forceLabel: marked, zIndex: marked ? 2 : 0 };
      },
      edgeReducer: (id, data) => {
        const { chosen, chosenEdge, path } = now.current;
        const [source, target] = graph.extremities(id);
        const marked = id === chosenEdge || (path.has(source) && path.has(target));
        const near = source === chosen || target === chosen;
        return { ...data, color: marked ? "#e0457b" : near ? "#6c5ce7" : data.color, size: marked ? 3 : near ? 2 : 1, zIndex: marked ? 2 : 0 };
      },
    });
    sigma.current = made;
    made.on("clickNode", ({ node }) => now.current.onChoose(node));
    made.on("doubleClickNode", ({ node, preventSigmaDefault }) => {
      preventSigmaDefault();
      now.current.onWiden(node);
    });
    made.on("clickEdge", ({ edge }) => now.current.onEdge(edge));
    made.on("clickStage", () => now.current.onChoose(""));
    return () => {
      onReady(null);
      made.kill();
      sigma.current = null;
    };
  }, [onReady]);

  // What is drawn follows what is given; a node that stays keeps its place.
  useEffect(() => {
    const graph = sigma.current?.getGraph();
    if (!graph || !sigma.current) return;
    sigma.current.setSetting("labelColor", { color: isDark() ? "#eee" : "#222" });
    for (const id of graph.nodes()) if (!drawn.nodes.has(id)) graph.dropNode(id);
    for (const id of graph.edges()) if (!drawn.edges.has(id)) graph.dropEdge(id);
    const before = graph.order;
    for (const node of drawn.nodes.values()) {
      const looks = {
        label: cut(node.title, LONGEST),
        size: 3 + 1.5 * Math.log2(1 + node.degree) + 5 * node.heat,
        color: props.heated ? heatColour(node.heat) : COLOURS[node.ref.label],
      };
      if (graph.hasNode(node.id)) graph.mergeNodeAttributes(node.id, { ...looks, ...places?.[node.id] });
      else graph.addNode(node.id, { ...looks, ...(places?.[node.id] ?? start(graph, drawn, node.id)) });
    }
    for (const edge of drawn.edges.values())
      if (!graph.hasEdge(edge.id))
        graph.addEdgeWithKey(edge.id, edge.source.id, edge.target.id, { weight: edge.weight, type: "arrow" });
    onReady(sigma.current);
    if (places || graph.order < 2 || graph.order === before) return;
    const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    setPlacing(true);
    worker.onmessage = ({ data }: MessageEvent<Placed>) => {
      for (const [id, place] of Object.entries(data)) if (graph.hasNode(id)) graph.mergeNodeAttributes(id, place);
      setPlacing(false);
      worker.terminate();
    };
    worker.postMessage({
      nodes: graph.mapNodes((id, { x, y, size }) => ({ id, x, y, size }) as Asked["nodes"][number]),
      edges: graph.mapEdges((_, { weight }, source, target) => ({ source, target, weight: Math.max(0.05, weight as number) })),
    } satisfies Asked);
    return () => {
      worker.terminate();
      setPlacing(false);
    };
  }, [drawn, places, props.heated, onReady]);

  useEffect(() => {
    sigma.current?.refresh({ skipIndexation: true });
  }, [props.chosen, props.chosenEdge, props.path]);

  return (
    <div className="canvas-frame">
      <div ref={box} className="canvas" aria-hidden="true" data-nodes={drawn.nodes.size} data-placing={placing} />
      {placing && (
        <p className="canvas-note muted small" role="status">
          Placing {drawn.nodes.size.toLocaleString()} nodes …
        </p>
      )}
    </div>
  );
}

/** Returns where a new node begins: beside one that it is tied to, else on a spiral; the same each time. */
function start(graph: Graph, drawn: Drawn, id: string): { x: number; y: number } {
  const angle = 2.4 * graph.order;
  for (const edge of drawn.edges.values()) {
    const beside = edge.source.id === id ? edge.target.id : edge.target.id === id ? edge.source.id : "";
    if (beside && graph.hasNode(beside)) {
      const { x, y } = graph.getNodeAttributes(beside) as { x: number; y: number };
      return { x: x + Math.cos(angle), y: y + Math.sin(angle) };
    }
  }
  return { x: Math.sqrt(graph.order) * Math.cos(angle), y: Math.sqrt(graph.order) * Math.sin(angle) };
}
