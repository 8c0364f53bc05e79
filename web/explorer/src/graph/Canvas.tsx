/** Draws a graph by WebGL (sigma). What is drawn stands in a list beside it too, which those read who do not see it. */
import Graph from "graphology";
import { useEffect, useRef, useState } from "react";
import Sigma from "sigma";

import { shortened } from "../parts/text";
import LayoutWorker from "./layout.worker?worker&inline";
import { Labels } from "./labels";
import type { Asked, Placed } from "./layout.worker";
import { colourOf } from "./model";
import type { Drawn, Node } from "./model";
import { Dots, pickByPlace } from "./picking";

/** Where nodes lie, and how far each reaches around there: all from -1 to 1. */
export type Places = Record<string, { x: number; y: number; size: number }>;

const LONGEST = 36; // characters of a title in the picture; the list beside it has the whole
const MANY_EDGES = 1_000; // of more than these, none is drawn while the picture is moved, nor found under the pointer
const FEW_NODES = 150; // of more than these, each is drawn smaller

const DRAWS = document.createElement("canvas").getContext("webgl2") !== null;

interface Props {
  drawn: Drawn;
  chosen: string;
  chosenEdge: string;
  path: ReadonlySet<string>;
  heated: boolean;
  /** Where nodes lie, if the answer says so; else they are placed here. */
  places?: Places | undefined;
  /** Whether more is still to come: nodes are placed once it is there. */
  pending?: boolean | undefined;
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
    if (!DRAWS) return;
    const graph = new Graph({ multi: true });
    const given = now.current.places !== undefined;
    const labels = new Labels(given);
    const made = new Sigma(graph, box.current as HTMLDivElement, {
      allowInvalidContainer: true,
      enableEdgeEvents: true,
      nodeProgramClasses: { circle: Dots },
      defaultDrawNodeLabel: labels.gather,
      defaultDrawNodeHover: labels.point,
      labelDensity: 4,
      labelRenderedSizeThreshold: given ? 0 : 4,
      defaultEdgeColor: "#9a9aa8",
      defaultEdgeType: given ? "line" : "arrow",
      // Where places are given, so are sizes: what does not overlap there does not overlap on the screen.
      ...(given ? { itemSizesReference: "positions", zoomToSizeRatioFunction: (ratio: number) => ratio } : {}),
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
        const width = (marked ? 3 : near ? 2 : 1) * (data.width as number);
        return { ...data, color: marked ? "#e0457b" : near ? "#6c5ce7" : data.color, size: width, zIndex: marked ? 2 : 0 };
      },
    });
    sigma.current = made;
    pickByPlace(made);
    if (given) made.setCustomBBox({ x: [-1, 1], y: [-1, 1] });
    made.on("afterRender", () => {
      const context = made.getCanvases().labels?.getContext("2d");
      if (context) labels.write(context);
    });
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

  // What is drawn follows what is given; a node that stays, or comes back, keeps its place.
  const placed = useRef(new Map<string, { x: number; y: number }>());
  useEffect(() => {
    const graph = sigma.current?.getGraph();
    if (!graph || !sigma.current) return;
    for (const id of graph.nodes()) if (!drawn.nodes.has(id)) graph.dropNode(id);
    for (const id of graph.edges()) if (!drawn.edges.has(id)) graph.dropEdge(id);
    const looksOf = looking(drawn.nodes.size, props.heated);
    const beside = neighbours(drawn);
    for (const node of drawn.nodes.values()) {
      const looks = { ...looksOf(node), ...(places?.[node.id] ?? placed.current.get(node.id)) };
      if (graph.hasNode(node.id)) graph.mergeNodeAttributes(node.id, looks);
      else graph.addNode(node.id, { ...start(graph, beside.get(node.id) ?? []), ...looks });
    }
    for (const edge of drawn.edges.values())
      if (!graph.hasEdge(edge.id))
        graph.addEdgeWithKey(edge.id, edge.source.id, edge.target.id, {
          weight: edge.weight,
          width: places ? 0.003 * (1 + Math.log2(edge.weight)) : 1,
        });
    const many = drawn.edges.size > MANY_EDGES;
    sigma.current.setSettings({ hideEdgesOnMove: many, hideLabelsOnMove: many, enableEdgeEvents: !many });
    onReady(sigma.current);
  }, [drawn, places, props.heated, onReady]);

  // They are placed anew when some have come that have no place yet.
  useEffect(() => {
    const graph = sigma.current?.getGraph();
    if (!graph || places || props.pending || graph.order < 2 || graph.everyNode((id) => placed.current.has(id))) return;
    const worker = new LayoutWorker();
    setPlacing(true);
    worker.onmessage = ({ data }: MessageEvent<Placed>) => {
      graph.updateEachNodeAttributes((id, own) => ({ ...own, ...data[id] }), { attributes: ["x", "y"] });
      for (const [id, place] of Object.entries(data)) placed.current.set(id, place);
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
  }, [drawn, places, props.pending]);

  useEffect(() => {
    sigma.current?.refresh({ skipIndexation: true });
  }, [props.chosen, props.chosenEdge, props.path]);

  return (
    <div className="canvas-frame">
      <div ref={box} className="canvas" aria-hidden="true" data-nodes={drawn.nodes.size} data-placing={placing || (DRAWS && props.pending === true)} />
      {!DRAWS && (
        <p className="canvas-note">
          This browser draws no graphs: WebGL is switched off, or there is no graphics card. All that would be drawn stands in the list.
        </p>
      )}
      {placing && (
        <p className="canvas-note muted small" role="status">
          Placing {drawn.nodes.size.toLocaleString()} nodes …
        </p>
      )}
    </div>
  );
}

/** Returns how a node looks among so many. */
function looking(count: number, heated: boolean) {
  const scale = Math.max(0.35, Math.min(1, Math.sqrt(FEW_NODES / Math.max(1, count))));
  return (node: Node) => ({
    label: node.short ?? shortened(node.title, LONGEST),
    size: scale * (3 + 1.5 * Math.log2(1 + node.degree) + 5 * node.heat),
    color: colourOf(node, heated),
  });
}

/** Returns what each node is tied to. */
function neighbours(drawn: Drawn): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const tie = (one: string, other: string) => found.get(one)?.push(other) ?? found.set(one, [other]);
  for (const { source, target } of drawn.edges.values()) {
    tie(source.id, target.id);
    tie(target.id, source.id);
  }
  return found;
}

/** Returns where a new node begins: beside one that it is tied to, else on a spiral; the same each time. */
function start(graph: Graph, beside: readonly string[]): { x: number; y: number } {
  const angle = 2.4 * graph.order;
  const there = beside.find((id) => graph.hasNode(id));
  const { x, y } = there ? (graph.getNodeAttributes(there) as { x: number; y: number }) : { x: 0, y: 0 };
  const away = there ? 1 : Math.sqrt(graph.order);
  return { x: x + away * Math.cos(angle), y: y + away * Math.sin(angle) };
}
