/** The graph: from a node by its neighbours, from a question by its walk, from one node to another, or all of it from afar. */
import { CommunityDocument, FindDocument, GraphOverviewDocument, NeighbourhoodDocument, NotFoundError, PathDocument, WalkDocument } from "helix-memory";
import { useQueries } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { Button, Input, Label, ListBox, ListBoxItem, Slider, SliderOutput, SliderThumb, SliderTrack, TextField } from "react-aria-components";
import type Sigma from "sigma";

import { useAddress, useScope } from "../address";
import { helix, useAnswer } from "../api";
import { Canvas } from "../graph/Canvas";
import type { Places } from "../graph/Canvas";
import { onTwoLines } from "../graph/labels";
import { add, beginnings, colourOf, counts, filtered, keyOf, nothing } from "../graph/model";
import type { Drawn, Edge } from "../graph/model";
import { savePng, saveSvg } from "../graph/picture";
import { TakeBack } from "../parts/actions";
import { Facet, Pick } from "../parts/controls";
import { Empty, Failed, Late, Loading } from "../parts/states";
import { count, cut, fullTime, Line, plain, Time } from "../parts/text";
import { Detail } from "./Detail";

const MOST = 1_000; // nodes asked for at once
const ELSEWHERE = { also: null, node: null, community: null }; // what does not go along to another beginning

export default function Graph() {
  const address = useAddress();
  const start = address.get("start");
  const question = address.get("q");
  const community = address.get("community");
  return (
    <div className="graph-view">
      <h1 className="hidden">Graph</h1>
      <From key={`${start} ${question}`} />
      {start || question || community ? (
        <Close key={`${start} ${question} ${community}`} start={start} question={question} community={community} />
      ) : (
        <Overview />
      )}
    </div>
  );
}

/** Where to begin, and where to go. */
function From() {
  const address = useAddress();
  const [from, setFrom] = useState(address.get("q") || address.get("start"));
  const [to, setTo] = useState(address.get("to"));
  return (
    <form
      className="row graph-from"
      onSubmit={(event) => {
        event.preventDefault();
        const name = from.trim();
        const isName = /^[\w.@/:-]+$/.test(name);
        address.set({ start: isName ? name : null, q: isName ? null : name, to: to.trim(), ...ELSEWHERE }, { push: true });
      }}
    >
      <TextField className="field" value={from} onChange={setFrom}>
        <Label>Begin at a name, an id or a question</Label>
        <Input />
      </TextField>
      <TextField className="field" value={to} onChange={setTo}>
        <Label>Find the way to (name or id)</Label>
        <Input />
      </TextField>
      <Button className="button primary" type="submit">
        Show
      </Button>
      {(from || to || address.get("community")) && (
        <Button
          className="button quiet"
          onPress={() => {
            setFrom("");
            setTo("");
            address.set({ start: null, q: null, to: null, labels: null, relations: null, until: null, ...ELSEWHERE }, { push: true });
          }}
        >
          Overview
        </Button>
      )}
    </form>
  );
}

function useDrawn(start: string, question: string, community: string) {
  const address = useAddress();
  const scope = useScope();
  const steps = address.number("steps", 1);
  const also = address.all("also");
  const to = address.get("to");
  const near = useQueries({
    queries: [...(start ? [start] : []), ...also].map((nameOrId, place) => {
      const asked = { nameOrId, steps: place === 0 && start ? steps : 1, scope, limit: MOST };
      return {
        queryKey: ["Neighbourhood", asked],
        queryFn: ({ signal }: { signal: AbortSignal }) => helix.run(NeighbourhoodDocument, asked, signal),
      };
    }),
    combine: (asked) => ({
      answers: asked.map(({ data }) => data),
      error: asked.find(({ error }) => error)?.error,
      isPending: asked.some(({ isPending }) => isPending),
    }),
  });
  const walk = useAnswer(WalkDocument, { query: question, scope, limit: 200 }, { when: question !== "" });
  const inside = useAnswer(CommunityDocument, { id: community, scope, limit: MOST }, { when: community !== "", patient: true });
  const way = useAnswer(PathDocument, { source: start, target: to, scope }, { when: Boolean(start && to), patient: true });
  const drawn = useMemo(() => {
    const all = nothing();
    if (walk.data)
      add(all, walk.data.nodes.map(({ node }) => node), walk.data.edges, new Map(walk.data.nodes.map(({ node, heat }) => [node.ref.id, heat])));
    for (const answer of near.answers) if (answer) add(all, [answer.centre, ...answer.nodes.map(({ node }) => node)], answer.edges);
    if (inside.data) add(all, inside.data.nodes, inside.data.edges);
    if (way.data) add(all, way.data.nodes, way.data.edges);
    return all;
  }, [near.answers, walk.data, inside.data, way.data]);
  return {
    drawn,
    path: useMemo(() => new Set((way.data?.nodes ?? []).map(({ ref }) => ref.id)), [way.data]),
    noWay: Boolean(to && way.data && way.data.nodes.length === 0),
    truncated: near.answers.some((answer) => answer?.truncated),
    inside: inside.data,
    error: near.error ?? walk.error ?? inside.error ?? way.error,
    unknown: near.error instanceof NotFoundError ? start : way.error instanceof NotFoundError ? to : "",
    late: inside.failureReason ?? way.failureReason,
    isPending: near.isPending || [walk, inside].some((one) => one.isPending && one.isEnabled),
  };
}

function Close({ start, question, community }: { start: string; question: string; community: string }) {
  const address = useAddress();
  const found = useDrawn(start, question, community);
  const { labels, relations } = { labels: address.all("labels"), relations: address.all("relations") };
  const times = useMemo(() => beginnings(found.drawn), [found.drawn]);
  const last = times.at(-1) ?? 0;
  const until = Number(address.get("until")) || Infinity;
  const drawn = useMemo(() => filtered(found.drawn, labels, relations, until), [found.drawn, labels.join(), relations.join(), until]);
  if (found.unknown) return <Unknown name={found.unknown} />;
  if (found.error) return <Failed error={found.error} />;
  if (found.isPending && drawn.nodes.size === 0) return found.late ? <Late reason={found.late} /> : <Loading what="the graph" />;
  if (found.drawn.nodes.size === 0) return <Empty title="Nothing lies there.">Begin at another name or question.</Empty>;
  return (
    <>
      <div className="graph-filters">
        {start && (
          <Pick
            label="Steps"
            value={String(address.number("steps", 1))}
            choices={["1", "2", "3"].map((id) => ({ id, label: id }))}
            onChange={(steps) => address.set({ steps })}
          />
        )}
        <Facet
          label="Labels"
          counts={counts([...found.drawn.nodes.values()].map(({ ref }) => ref.label))}
          chosen={labels}
          onChange={(chosen) => address.set({ labels: chosen })}
        />
        <Facet
          label="Relations"
          counts={counts([...found.drawn.edges.values()].map(({ type }) => type))}
          chosen={relations}
          onChange={(chosen) => address.set({ relations: chosen })}
        />
        {times.length > 1 && (
          <TimeSlider first={times[0] ?? 0} last={last} value={Math.min(until, last)} onChange={(time) => address.set({ until: time >= last ? null : String(Math.round(time)) })} />
        )}
        {found.late !== null && <Late reason={found.late} />}
        {found.noWay && <p className="edge">There is no way of at most 8 steps between the two.</p>}
        {found.truncated && <p className="muted small">There is more within so many steps than is drawn.</p>}
        {found.inside && (
          <p className="muted small">
            One community of {count(found.inside.size, "node")}
            {found.inside.size > found.inside.nodes.length && `; the ${found.inside.nodes.length.toLocaleString()} with the most edges in it are drawn`}.
          </p>
        )}
      </div>
      <Drawing drawn={drawn} path={found.path} heated={question !== ""} pending={found.isPending} />
    </>
  );
}

/** Nothing is called so: what has its words in its name, and the question that it may have been meant as. */
function Unknown({ name }: { name: string }) {
  const address = useAddress();
  const alike = useAnswer(FindDocument, { text: name, limit: 4 }, { keep: false });
  const same = (alike.data ?? []).filter(({ title }) => title === name);
  const meant = same.length === 1 ? same[0]?.ref.id : undefined; // files and other entities are known by their words alone
  const place = name === address.get("to") ? "to" : "start";
  useEffect(() => {
    if (meant) address.set({ [place]: meant });
  }, [meant, place]);
  if (alike.isPending || meant) return <Loading what="the graph" />;
  return (
    <Empty title={`There is no node called “${cut(name, 80)}”.`}>
      {(alike.data ?? []).length > 0 && <p>Perhaps one of these is meant:</p>}
      <ul className="plain">
        {(alike.data ?? []).map((node) => (
          <li key={node.ref.id}>
            <Button className="link" onPress={() => address.set({ ...ELSEWHERE, [place]: node.ref.id }, { push: true })}>
              <Line text={node.title} most={80} />
            </Button>{" "}
            <span className="muted small">
              {plain(node.kind ?? node.ref.label)}, {node.scope}
            </span>
          </li>
        ))}
      </ul>
      <Button className="button" onPress={() => address.set({ ...ELSEWHERE, start: null, to: null, q: name }, { push: true })}>
        Walk the graph for it as a question
      </Button>
    </Empty>
  );
}

function TimeSlider({ first, last, value, onChange }: { first: number; last: number; value: number; onChange: (time: number) => void }) {
  const step = Math.max(1, Math.ceil((last - first) / 200));
  const end = first + step * Math.max(1, Math.ceil((last - first) / step)); // a whole number of steps from the first, or its end could not be reached
  return (
    <Slider className="slider" minValue={first} maxValue={end} step={step} value={value >= last ? end : value} onChange={(time) => onChange(time as number)}>
      <Label>What held on</Label>
      <SliderOutput>{new Date(value).toISOString().slice(0, 10)}</SliderOutput>
      <SliderTrack className="slider-track">
        <SliderThumb className="slider-thumb" />
      </SliderTrack>
    </Slider>
  );
}

interface DrawingProps {
  drawn: Drawn;
  path: ReadonlySet<string>;
  heated: boolean;
  pending?: boolean;
  places?: Places;
  /** What a click on a node of a picture of something else does, such as of communities. */
  onOpen?: (id: string) => void;
}

function Drawing({ drawn, path, heated, pending, places, onOpen }: DrawingProps) {
  const address = useAddress();
  const chosen = address.get("node");
  const [edge, setEdge] = useState("");
  const [sigma, setSigma] = useState<Sigma | null>(null);
  const choose = useCallback(
    (id: string) => {
      setEdge("");
      if (!onOpen) address.set({ node: id });
      else if (id) onOpen(id);
    },
    [address, onOpen],
  );
  const widen = useCallback(
    (id: string) => (onOpen ? onOpen(id) : address.set({ also: [...new Set([...address.all("also"), id])], node: id }, { push: true })),
    [address, onOpen],
  );
  return (
    <div className="drawing">
      <Canvas drawn={drawn} chosen={chosen} chosenEdge={edge} path={path} heated={heated} places={places} pending={pending} onChoose={choose} onWiden={widen} onEdge={setEdge} onReady={setSigma} />
      <aside className="beside" aria-label="The graph as a list">
        <div className="row">
          <p className="muted small">
            {count(drawn.nodes.size, "node")}, {count(drawn.edges.size, "edge")}
          </p>
          <Button className="button quiet push" isDisabled={!sigma} onPress={() => sigma && savePng(sigma)}>
            PNG
          </Button>
          <Button className="button quiet" isDisabled={!sigma} onPress={() => sigma && saveSvg(sigma)}>
            SVG
          </Button>
        </div>
        <Key drawn={drawn} heated={heated} afar={Boolean(onOpen)} />
        {!onOpen && chosen && drawn.nodes.has(chosen) ? (
          <Chosen drawn={drawn} id={chosen} edge={edge} onEdge={setEdge} onChoose={choose} onWiden={widen} />
        ) : edge && drawn.edges.has(edge) ? (
          <EdgeReason edge={drawn.edges.get(edge) as Edge} drawn={drawn} onChoose={choose} />
        ) : (
          <Nodes drawn={drawn} heated={heated} whole={!onOpen} onChoose={choose} />
        )}
      </aside>
    </div>
  );
}

/** What the colours of the picture mean. */
function Key({ drawn, heated, afar }: { drawn: Drawn; heated: boolean; afar: boolean }) {
  const key = useMemo(() => keyOf(drawn, heated), [drawn, heated]);
  return (
    <p className="muted small key">
      {afar ? "What is in the middle: " : heated ? "Colours: " : "What it is: "}
      {key.map(({ colour, words }) => (
        <span key={colour}>
          <Dot colour={colour} /> {words}
        </span>
      ))}
    </p>
  );
}

const Dot = ({ colour }: { colour: string }) => (
  <svg className="dot" viewBox="0 0 8 8" aria-hidden="true">
    <circle cx="4" cy="4" r="4" fill={colour} />
  </svg>
);

/** The nodes as a list, those with the most edges first; in the overview, communities by their size. */
function Nodes({ drawn, heated, whole, onChoose }: { drawn: Drawn; heated: boolean; whole: boolean; onChoose: (id: string) => void }) {
  const nodes = useMemo(() => [...drawn.nodes.values()].sort((a, b) => b.heat - a.heat || b.degree - a.degree).slice(0, 200), [drawn]);
  return (
    <ListBox className="menu node-list" aria-label="Nodes" items={nodes} onAction={(id) => onChoose(String(id))}>
      {(node) => (
        <ListBoxItem id={node.id} className="menu-item" textValue={node.title}>
          <Dot colour={colourOf(node, heated)} />{" "}
          <Line text={node.title} most={80} />{" "}
          <span className="muted small">
            {whole ? `${plain(node.kind ?? node.ref.label)}, ${count(node.degree, "edge")}` : count(node.degree, "node")}
          </span>
        </ListBoxItem>
      )}
    </ListBox>
  );
}

interface ChosenProps {
  drawn: Drawn;
  id: string;
  edge: string;
  onEdge: (id: string) => void;
  onChoose: (id: string) => void;
  onWiden: (id: string) => void;
}

function Chosen({ drawn, id, edge, onEdge, onChoose, onWiden }: ChosenProps) {
  const node = drawn.nodes.get(id);
  const edges = [...drawn.edges.values()].filter(({ source, target }) => source.id === id || target.id === id);
  if (!node) return null;
  return (
    <>
      <h2>
        <Line text={node.title} most={120} />
      </h2>
      <p className="muted small">
        {plain(node.kind ?? node.ref.label)}, {node.scope} <Time at={node.at} />
      </p>
      <div className="row">
        <Button className="button" onPress={() => onWiden(id)}>
          Widen
        </Button>
        <Button className="button quiet" onPress={() => onChoose("")}>
          All nodes
        </Button>
      </div>
      {edges.length > 0 && <h3>Its edges here</h3>}
      <ul className="plain">
        {edges.slice(0, 60).map((one) => (
          <li key={one.id}>
            <Button className="link" aria-expanded={edge === one.id} onPress={() => onEdge(edge === one.id ? "" : one.id)}>
              {one.source.id === id ? "" : "← "}
              {plain(one.relation || one.type)} {one.source.id === id ? "→ " : ""}
              <Line text={drawn.nodes.get(one.source.id === id ? one.target.id : one.source.id)?.title ?? ""} most={60} />
            </Button>
            {edge === one.id && <EdgeReason edge={one} drawn={drawn} onChoose={onChoose} />}
          </li>
        ))}
      </ul>
      <Detail nameOrId={id} />
    </>
  );
}

function EdgeReason({ edge, drawn, onChoose }: { edge: Edge; drawn: Drawn; onChoose: (id: string) => void }) {
  const [from, to] = [drawn.nodes.get(edge.source.id), drawn.nodes.get(edge.target.id)];
  return (
    <div className="edge-reason">
      <p>
        <Button className="link" onPress={() => onChoose(edge.source.id)}>
          <Line text={from?.title ?? ""} most={60} />
        </Button>{" "}
        <strong>{plain(edge.relation || edge.type)}</strong>{" "}
        <Button className="link" onPress={() => onChoose(edge.target.id)}>
          <Line text={to?.title ?? ""} most={60} />
        </Button>
      </p>
      <p className="muted small">
        {edge.reason} {edge.createdAt && fullTime(edge.createdAt)}, weight {edge.weight.toFixed(2)}
        {edge.heldUntil && `; until ${fullTime(edge.heldUntil)}`}
      </p>
      <TakeBack edge={edge} />
    </div>
  );
}

/** The whole graph from afar: its communities, sized and named. */
function Overview() {
  const address = useAddress();
  const scope = useScope();
  const overview = useAnswer(GraphOverviewDocument, { scope, limit: 60 }, { patient: true });
  const [drawn, places] = useMemo(() => {
    const all = nothing();
    const found: Places = {};
    for (const one of overview.data?.nodes ?? []) {
      const ref = one.members[0]?.ref ?? { label: "MEMORY" as const, id: one.id };
      all.nodes.set(one.id, {
        id: one.id,
        ref,
        title: one.title,
        short: `${onTwoLines(one.members[0]?.title.replace(/^.*\/(?=[^/ ]+$)/, "") ?? one.title)}\n${one.size.toLocaleString()}`,
        scope: scope ?? "",
        saidBy: "",
        kind: null,
        status: null,
        at: null,
        heldUntil: null,
        degree: one.size,
        heat: 0,
      });
      found[one.id] = { x: one.x, y: one.y, size: one.radius };
    }
    for (const { source, target, weight } of overview.data?.edges ?? []) {
      const id = `${source} ${target}`;
      const [from, to] = [all.nodes.get(source), all.nodes.get(target)];
      if (from && to)
        all.edges.set(id, {
          id,
          type: "RELATED",
          relation: `${count(weight, "edge")} between them`,
          reason: "",
          createdAt: "",
          drawn: false,
          heldSince: null,
          heldUntil: null,
          weight,
          source: { label: from.ref.label, id: source },
          target: { label: to.ref.label, id: target },
        });
    }
    return [all, found];
  }, [overview.data, scope]);
  const open = useCallback((id: string) => address.set({ community: id }, { push: true }), [address]);
  if (overview.error && !overview.data) return <Failed error={overview.error} again={overview.refetch} />;
  if (!overview.data) return overview.failureReason ? <Late reason={overview.failureReason} /> : <Loading what="the graph" />;
  if (drawn.nodes.size === 0)
    return (
      <Empty title="The graph has no communities yet.">
        <p>Ask a question above to walk it, or take in a history: <code>helix ingest git .</code></p>
      </Empty>
    );
  return (
    <>
      <p className="muted small">
        {count(overview.data.totalNodes, "node")} and {count(overview.data.totalEdges, "edge")} in{" "}
        {count(drawn.nodes.size, "community", "communities")}: nodes that are tied to each other more than to the rest. A click opens one.
      </p>
      <Drawing drawn={drawn} path={NONE} heated={false} places={places} onOpen={open} />
    </>
  );
}

const NONE: ReadonlySet<string> = new Set();
