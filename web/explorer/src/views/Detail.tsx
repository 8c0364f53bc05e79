/** One memory whole: what it says, why it was shown, since when, on what grounds, what it is tied to, and whether it helped. */
import {
  EdgesDocument,
  EffectDocument,
  GetDocument,
  HistoryDocument,
  NeighbourhoodDocument,
  NodeDocument,
  NodesDocument,
  ShowingsDocument,
  WhyDocument,
} from "helix-memory";
import type { MemoryFragment, NodeFragment, RecallItemFragment, VersionFragment } from "helix-memory";
import { useEffect } from "react";
import { Disclosure, DisclosurePanel, Heading, Button, Link } from "react-aria-components";
import { useLocation } from "react-router";

import { hrefOf, sessionPath, useLink } from "../address";
import { useAnswer, usePages } from "../api";
import { Actions, TakeBack, useEdit } from "../parts/actions";
import { Badges, KindBadge, SaidBy, StatusBadge } from "../parts/badges";
import { Changes } from "../parts/diff";
import { More } from "../parts/more";
import { ScoreBars } from "../parts/score";
import { Showings } from "../parts/showings";
import { Show } from "../parts/states";
import { count, fullTime, Line, plain, Time, Words } from "../parts/text";

/** `item`: its place in an answer that is shown beside it. */
export function Detail({ nameOrId, item }: { nameOrId: string; item?: RecallItemFragment | undefined }) {
  const isId = /^[0-9a-f-]{36}$/.test(nameOrId);
  const node = useAnswer(NodeDocument, { id: nameOrId }, { keep: false, when: isId });
  const memory = useAnswer(GetDocument, { nameOrId }, { keep: false, when: !isId });
  if (memory.data) return <MemoryDetail memory={memory.data} item={item} />;
  return (
    <Show of={isId ? node : memory} what="it">
      {(found) => (found && "trigger" in found ? <MemoryDetail memory={found as MemoryFragment} item={item} /> : <Other node={found as NodeFragment} />)}
    </Show>
  );
}

/** A node that is no memory: an episode, a reflection. */
function Other({ node }: { node: NodeFragment }) {
  const link = useLink();
  if (node.__typename === "Episode")
    return (
      <article className="detail">
        <h2>What happened</h2>
        <p className="badges">
          <SaidBy who={node.saidBy} />
          <StatusBadge status={node.status} />
          <span className="muted small">
            <Time at={node.occurredAt} /> {node.scope}
          </span>
        </p>
        <Words text={node.content} most={4_000} />
        {node.session && (
          <p>
            <Link className="link" href={link(sessionPath(node.session))}>
              its session
            </Link>
          </p>
        )}
        <Edges id={node.id} />
      </article>
    );
  if (node.__typename === "Reflection")
    return (
      <article className="detail">
        <h2>Insight</h2>
        <p className="muted">
          <Words text={node.question} />
        </p>
        <Words text={node.insight} />
        <p>
          <Link className="link" href={link(`/insights/${node.id}`)}>
            what it rests on
          </Link>
        </p>
      </article>
    );
  return (
    <article className="detail">
      <h2>{node.__typename}</h2>
      <p>{"name" in node ? String(node.name) : node.id}</p>
      <p>
        <Link className="link" href={link("/graph", { start: node.id })}>
          see it in the graph
        </Link>
      </p>
      <Edges id={node.id} />
    </article>
  );
}

function MemoryDetail({ memory, item }: { memory: MemoryFragment; item: RecallItemFragment | undefined }) {
  const link = useLink();
  const { pathname } = useLocation();
  return (
    <article className="detail">
      <h2>
        <bdi>{memory.name}</bdi>
      </h2>
      <Badges memory={memory} />
      <Words text={memory.trigger} className="trigger" />
      {memory.resolution && <Words text={memory.resolution} className="resolution" />}
      <Actions memory={memory} />
      <p className="row small">
        {!pathname.startsWith("/memory/") && (
          <Link className="link" href={link(`/memory/${encodeURIComponent(memory.id)}`)}>
            its own page
          </Link>
        )}
        <Link className="link" href={link("/graph", { start: memory.id })}>
          in the graph
        </Link>
      </p>
      <Section title="Why it was shown" open>
        <Why memory={memory} item={item} />
      </Section>
      <Section title="Where it comes from" open>
        <Origin memory={memory} />
      </Section>
      <Section title="Whether it helped" open>
        <Effect memory={memory} />
      </Section>
      <Section title="Versions">
        <Versions memory={memory} />
      </Section>
      <Section title="What it is tied to">
        <Edges id={memory.id} />
      </Section>
    </article>
  );
}

/** A part of a page that can be opened and closed. */
export function Section({ title, open = false, children }: { title: string; open?: boolean; children: React.ReactNode }) {
  return (
    <Disclosure className="section" defaultExpanded={open}>
      {({ isExpanded }) => (
        <>
          <Heading level={3}>
            <Button slot="trigger" className="section-button">
              <span aria-hidden="true">{isExpanded ? "▾" : "▸"}</span> {title}
            </Button>
          </Heading>
          <DisclosurePanel>{isExpanded && children}</DisclosurePanel>
        </>
      )}
    </Disclosure>
  );
}

/** What its place was made of in an answer of this page, and what each agent was shown it for. */
function Why({ memory, item }: { memory: MemoryFragment; item: RecallItemFragment | undefined }) {
  const why = useAnswer(WhyDocument, { nameOrId: memory.id, session: "explorer" }, { keep: false, when: !item });
  const showings = usePages(ShowingsDocument, { nameOrId: memory.id, first: 5 });
  const place = item ?? why.data;
  return (
    <>
      {place && (
        <>
          {!item && <p className="muted small">In the last answer that this page was given:</p>}
          <Reasons item={place} />
        </>
      )}
      <h4>To agents</h4>
      <Show of={showings} what="to whom it was shown">
        {() => (showings.total === 0 ? <p className="muted">No agent has been shown it yet.</p> : <Showings of={showings.items} by="task" />)}
      </Show>
      <More of={showings} />
    </>
  );
}

function Reasons({ item }: { item: RecallItemFragment }) {
  return (
    <>
      <p>{item.reason}</p>
      <ScoreBars score={item.score} factors={item.factors} arms={item.arms} />
    </>
  );
}

function Origin({ memory }: { memory: MemoryFragment }) {
  const { provenance } = memory;
  const rows: [string, React.ReactNode][] = [
    ["who says it", memory.saidBy],
    ["recorded", <Time key="at" at={memory.recordedAt} />],
    ["scope", memory.scope],
    ["holds from", memory.validFrom && <Time key="from" at={memory.validFrom} />],
    ["held until", memory.validTo && <Time key="to" at={memory.validTo} />],
    ["source", memory.source],
    ["agent", provenance.agent],
    ["made by", [provenance.extractor, provenance.model].filter(Boolean).join(", ")],
    ["confidence", memory.confidence.toFixed(2)],
    ["importance", memory.importance.toFixed(1)],
  ];
  return (
    <>
      <dl className="facts">
        {rows
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === "string" ? <bdi>{value}</bdi> : value}</dd>
            </div>
          ))}
      </dl>
      <Grounds id={memory.id} />
    </>
  );
}

/** The episodes that a memory rests on. */
function Grounds({ id }: { id: string }) {
  const edges = useAnswer(EdgesDocument, { nameOrId: id, relation: "GROUNDED_IN", first: 6 }, { keep: false });
  const ids = (edges.data?.edges ?? []).map(({ node }) => node.target.id).filter((one) => one !== id);
  const nodes = useAnswer(NodesDocument, { ids }, { when: ids.length > 0, keep: false });
  if (!ids.length) return null;
  return (
    <>
      <h4>It rests on {count(edges.data?.totalCount ?? ids.length, "episode")}</h4>
      <ul className="plain">
        {(nodes.data ?? []).map(
          (node) =>
            node?.__typename === "Episode" && (
              <li key={node.id}>
                <span className="muted small">
                  <Time at={node.occurredAt} />
                </span>{" "}
                <Line text={node.content} />
              </li>
            ),
        )}
      </ul>
    </>
  );
}

function Effect({ memory }: { memory: MemoryFragment }) {
  const link = useLink();
  const effect = useAnswer(EffectDocument, { nameOrId: memory.id }, { keep: false });
  return (
    <Show of={effect} what="what came of it">
      {(found) =>
        found.shown === 0 ? (
          <p className="muted">No agent has been shown it yet.</p>
        ) : (
          <>
            <p>
              Shown to {count(found.shown, "task")}: {found.helped} went well with it, {found.failed} did not,{" "}
              {found.unused} made no use of it.
            </p>
            <p>
              <Link className="link" href={link(`/memory/${memory.id}`)}>
                over time
              </Link>
            </p>
          </>
        )
      }
    </Show>
  );
}

export function Versions({ memory }: { memory: MemoryFragment }) {
  const history = usePages(HistoryDocument, { nameOrId: memory.id, first: 50 });
  const versions = history.items;
  return (
    <>
      <Show of={history} what="its versions">
        {() => (
          <ol className="versions">
            {versions.map((version, place) => (
              <Version
                key={version.seq}
                version={version}
                before={versions[place + 1]}
                replaced={memory.status === "ACTIVE" && ![memory.id, versions[place - 1]?.memory.id].includes(version.memory.id)}
                now={memory}
              />
            ))}
          </ol>
        )}
      </Show>
      <More of={history} />
    </>
  );
}

interface VersionProps {
  version: VersionFragment;
  before: VersionFragment | undefined;
  /** Whether it is the last word of a version that another replaced. */
  replaced: boolean;
  now: MemoryFragment;
}

function Version({ version, before, replaced, now }: VersionProps) {
  const { memory } = version;
  const edit = useEdit(now);
  const earlier = before?.memory;
  return (
    <li>
      <p>
        <strong>{plain(version.change)}</strong>{" "}
        <span className="muted small" title={fullTime(version.at)}>
          <Time at={version.at} /> {version.by && `by ${version.by}`}
        </span>
      </p>
      {version.reason && <p className="muted small">{version.reason}</p>}
      {earlier && memory.id !== earlier.id && (
        <>
          <Changes before={earlier.trigger} after={memory.trigger} />
          <Changes before={earlier.resolution} after={memory.resolution} />
        </>
      )}
      {replaced && (
        <Button
          className="button quiet"
          onPress={() =>
            edit.mutate({ nameOrId: now.id, trigger: memory.trigger, resolution: memory.resolution, kind: memory.kind })
          }
        >
          Bring these words back
        </Button>
      )}
    </li>
  );
}

/** What a node is tied to, each with the word and the reason of the edge. */
function Edges({ id }: { id: string }) {
  const near = useAnswer(NeighbourhoodDocument, { nameOrId: id, steps: 1, limit: 60 }, { keep: false });
  const link = useLink();
  return (
    <Show of={near} what="what it is tied to">
      {({ nodes, edges, truncated }) => {
        const named = new Map(nodes.map(({ node }) => [node.ref.id, node]));
        const own = edges.filter(({ source, target }) => source.id === id || target.id === id);
        if (own.length === 0) return <p className="muted">Nothing yet. “Relate” ties it to another memory.</p>;
        return (
          <>
            <ul className="plain">
              {own.map((edge) => {
                const there = edge.source.id === id;
                const end = named.get(there ? edge.target.id : edge.source.id);
                const word = plain(edge.relation || edge.type);
                return (
                  end && (
                    <li key={`${edge.type} ${edge.relation} ${end.ref.id} ${String(there)}`}>
                      <span className="muted small">{there ? word : `← ${word}`}</span>{" "}
                      <Link className="link" href={hrefOf(end, link)}>
                        <Line text={end.title} most={90} />
                      </Link>{" "}
                      {end.kind ? <KindBadge kind={end.kind} /> : <span className="muted small">{plain(end.ref.label)}</span>}{" "}
                      <span className="muted small">{edge.reason}</span>
                      <TakeBack edge={edge} />
                    </li>
                  )
                );
              })}
            </ul>
            {truncated && (
              <Link className="link" href={link("/graph", { start: id })}>
                all of it in the graph
              </Link>
            )}
          </>
        );
      }}
    </Show>
  );
}

/** Says in the title of the page which memory it is about. */
export function useTitle(title: string) {
  useEffect(() => {
    if (title) document.title = `${title} · Helix`;
  }, [title]);
}
