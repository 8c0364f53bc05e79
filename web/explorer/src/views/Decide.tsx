/** One inbox for what only a person can decide: worked through by keyboard, each action with a way back. */
import {
  AcceptCandidateDocument,
  AcceptDocument,
  ContradictionsDocument,
  DuplicatesDocument,
  ForgetDocument,
  HoldDocument,
  InboxDocument,
  LearningQueueDocument,
  MemoriesDocument,
  RejectCandidateDocument,
  RejectDocument,
  ReopenCandidateDocument,
  ReopenDuplicateDocument,
  ReopenContradictionDocument,
  ResolveContradictionDocument,
  ReviewDocument,
  SettleDuplicateDocument,
  UnmergeDocument,
} from "helix-memory";
import type { DisputeFragment, MemoryFragment } from "helix-memory";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { Button, Link, TabList, TabPanel, Tabs } from "react-aria-components";

import { useAddress, useLink, useScope } from "../address";
import { helix, useAnswer, useChange, usePages } from "../api";
import { Actions } from "../parts/actions";
import { Badges, KindBadge, SaidBy } from "../parts/badges";
import { Changes } from "../parts/diff";
import { More } from "../parts/more";
import { Empty, Failed, Loading } from "../parts/states";
import { ViewTab } from "../parts/tab";
import { count, Line, plain, Time, Words } from "../parts/text";
import { DECIDE } from "../shell/views";

export function Decide() {
  const address = useAddress();
  const scope = useScope();
  const inbox = useAnswer(InboxDocument, { scope });
  const first = DECIDE.find(({ of }) => (inbox.data?.[of] ?? 0) > 0)?.id ?? "contradictions";
  const tab = address.oneOf("tab", [first, ...DECIDE.map(({ id }) => id)]);
  return (
    <div className="page">
      <h1>To decide</h1>
      <p className="muted small">
        <kbd>j</kbd> and <kbd>k</kbd> go to the next and the previous one; the keys on the buttons decide.
      </p>
      <Tabs selectedKey={tab} onSelectionChange={(key) => address.set({ tab: String(key) }, { push: true })}>
        <TabList className="tabs" aria-label="What waits">
          {DECIDE.map(({ id, name, of }) => (
            <ViewTab key={id} id={id}>
              {name} {inbox.data ? <span className="count">{inbox.data[of]}</span> : null}
            </ViewTab>
          ))}
        </TabList>
        <TabPanel id="contradictions">
          <Contradictions />
        </TabPanel>
        <TabPanel id="quarantine">
          <Quarantine />
        </TabPanel>
        <TabPanel id="queue">
          <Queue />
        </TabPanel>
        <TabPanel id="duplicates">
          <Duplicates />
        </TabPanel>
        <TabPanel id="gaps">
          <Gaps />
        </TabPanel>
      </Tabs>
    </div>
  );
}

interface Choice {
  key: string;
  label: string;
  act: () => void;
}

/** What was decided here last; a new object each time, as one that was undone is decided again. */
interface Decided {
  id: string;
}

/** Which of a list's items is chosen, by its id: it stays so while others come and go.
 *
 * When it was `decided` here, its next neighbour is; where somebody else decided it, none is until a person chooses:
 * nobody has read another yet. */
function useChosen(ids: string[], decided: Decided | null) {
  const [chosen, setChosen] = useState("");
  const [lost, setLost] = useState(false);
  const [known, setKnown] = useState<string[]>([]);
  const [followed, setFollowed] = useState<Decided | null>(null);
  if (ids.join("\n") !== known.join("\n")) {
    setKnown(ids);
    const gone = chosen !== "" && !ids.includes(chosen);
    const ours = gone && decided !== null && decided !== followed && decided.id === chosen;
    if (ours) setFollowed(decided);
    if (gone && !ours) {
      setChosen("");
      setLost(true);
    } else if (ours || (chosen === "" && !lost)) {
      const at = Math.max(0, known.indexOf(chosen));
      const nearest = [...known.slice(at), ...known.slice(0, at).reverse(), ...ids];
      setChosen(nearest.find((id) => ids.includes(id)) ?? "");
    }
  }
  const choose = (id: string) => {
    setChosen(id);
    setLost(false);
  };
  return [chosen, choose] as const;
}

/** A list whose items are decided one after the other; j and k move, the choices' keys decide the one that is chosen. */
function Cases<T>({
  pages,
  what,
  done,
  idOf,
  choices,
  children,
}: {
  pages: { items: T[]; error: unknown; isPending: boolean; refetch: () => unknown; hasMore: boolean; more: () => void; total: number };
  what: string;
  done: string;
  idOf: (item: T) => string;
  choices: (item: T) => Choice[];
  children: (item: T) => React.ReactNode;
}) {
  const list = useRef<HTMLOListElement>(null);
  const { items } = pages;
  const [own, setOwn] = useState<Decided | null>(null);
  const [chosen, choose] = useChosen(items.map(idOf), own);
  const client = useQueryClient();
  const decided = useRef("");
  /** Decides an item once: the one that was decided last waits until the list was read anew. */
  const decide = (item: T, act: () => void) => {
    if (decided.current === idOf(item) && client.isMutating() + client.isFetching() > 0) return;
    decided.current = idOf(item);
    setOwn({ id: idOf(item) });
    act();
  };
  useEffect(() => {
    // One that left the list and came back, as after "Undo", is to be decided anew at once.
    if (!items.some((item) => idOf(item) === decided.current)) decided.current = "";
  });
  const before = useRef("");
  useLayoutEffect(() => {
    const left = before.current && document.activeElement === document.body; // the focus went with what is gone
    if (left) list.current?.querySelector<HTMLElement>(".open")?.focus();
    before.current = chosen;
  }, [chosen]);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.metaKey || event.ctrlKey || event.altKey || target.closest("input, textarea, [role=dialog], [role=listbox]")) return;
      const place = items.findIndex((item) => idOf(item) === chosen);
      const item = items[place];
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      const next = item ? (items[place + step] ?? item) : items[0];
      if (step && next) {
        choose(idOf(next));
        (list.current?.children[items.indexOf(next)] as HTMLElement | undefined)?.focus();
        event.preventDefault();
        return;
      }
      const choice = event.repeat || !item ? undefined : choices(item).find(({ key }) => key === event.key);
      if (item && choice) {
        event.preventDefault();
        decide(item, choice.act);
      }
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  });
  if (pages.error && !items.length) return <Failed error={pages.error} again={pages.refetch} />;
  if (pages.isPending) return <Loading what={what} />;
  if (!items.length) return <Empty title={done} />;
  return (
    <>
      <ol className="cases" ref={list}>
        {items.map((item) => (
          <li key={idOf(item)} className={`case ${idOf(item) === chosen ? "open" : ""}`} tabIndex={-1} onFocus={() => choose(idOf(item))}>
            {children(item)}
            <div className="actions" role="group" aria-label="Decide">
              {choices(item).map(({ key, label, act }) => (
                <Button key={key} className="button" onPress={() => decide(item, act)}>
                  {label} <kbd>{key}</kbd>
                </Button>
              ))}
            </div>
          </li>
        ))}
      </ol>
      <More of={pages} />
    </>
  );
}

function Contradictions() {
  const scope = useScope();
  const pages = usePages(ContradictionsDocument, { scope, first: 30 });
  const resolve = useChange(ResolveContradictionDocument, {
    said: (dispute) => `Decided: ${outcomeOf(dispute)}.`,
    undo: (_, { a, b }) => helix.run(ReopenContradictionDocument, { a, b }),
  });
  const choices = ({ first, second }: DisputeFragment): Choice[] => {
    const [a, b] = [first.id, second.id];
    const say = (winner: string) => () => resolve.mutate({ a, b, winner });
    return [
      { key: "1", label: "The first holds", act: say(a) },
      { key: "2", label: "The second holds", act: say(b) },
      { key: "b", label: "Both hold", act: say("both") },
      { key: "n", label: "Neither holds", act: say("neither") },
    ];
  };
  return (
    <Cases pages={pages} what="contradictions" done="Nothing contradicts anything." idOf={({ first, second }) => `${first.id} ${second.id}`} choices={choices}>
      {(dispute) => (
        <>
          <p className="small muted">
            {GROUNDS[dispute.ground] ?? dispute.ground}, found <Time at={dispute.since} />
          </p>
          <div className="columns">
            <Side memory={dispute.first} claim={dispute.left} />
            <Side memory={dispute.second} claim={dispute.right} />
          </div>
        </>
      )}
    </Cases>
  );
}

const GROUNDS: Record<string, string> = {
  negation: "One denies what the other says",
  opposite: "They say opposites",
  number: "They name different numbers",
  value: "They name different values",
  model: "A language model says that both cannot hold",
};

const outcomeOf = ({ outcome, first, second }: DisputeFragment): string =>
  outcome === "FIRST" ? `${first.name} holds` : outcome === "SECOND" ? `${second.name} holds` : outcome === "BOTH" ? "both hold" : "neither holds";

function Side({ memory, claim }: { memory: MemoryFragment; claim?: string }) {
  const link = useLink();
  return (
    <div className="side">
      <p className="row">
        <Link className="link" href={link(`/memory/${memory.id}`)}>
          <bdi>{memory.name}</bdi>
        </Link>
        <Badges memory={memory} />
        <span className="muted small push">
          <Time at={memory.recordedAt} />
        </span>
      </p>
      {claim && (
        <p className="claim">
          <mark>
            <Line text={claim} />
          </mark>
        </p>
      )}
      <Words text={memory.trigger} most={500} />
      <Words text={memory.resolution} most={500} className="resolution" />
    </div>
  );
}

function Quarantine() {
  const scope = useScope();
  const pages = usePages(ReviewDocument, { scope, first: 30 });
  const undo = (_: unknown, { nameOrId }: { nameOrId: string }) => helix.run(HoldDocument, { nameOrId });
  const accept = useChange(AcceptDocument, {
    said: (node) => `${"name" in node ? node.name : "It"} can be recalled now.`,
    undo,
  });
  const reject = useChange(RejectDocument, { said: "Rejected: it stays on disk and is never recalled.", undo });
  return (
    <Cases
      pages={pages}
      what="the quarantine"
      done="Nothing is quarantined."
      idOf={({ id }) => id}
      choices={({ id }) => [
        { key: "a", label: "Let it be recalled", act: () => accept.mutate({ nameOrId: id }) },
        { key: "x", label: "Reject", act: () => reject.mutate({ nameOrId: id }) },
      ]}
    >
      {(held) => (
        <>
          <p className="row">
            <bdi className="name">{held.name}</bdi>
            <span className="badge">{plain(held.ref.label)}</span>
            <SaidBy who={held.saidBy} />
            <span className="muted small push">
              {[held.source, held.agent].filter(Boolean).join(", ")} <Time at={held.recordedAt} />
            </span>
          </p>
          <p className="small">
            Why it is here: {held.reasons.map((reason) => <mark key={reason}>{reason}</mark>)}
          </p>
          <blockquote>
            <Words text={held.text} most={900} />
          </blockquote>
        </>
      )}
    </Cases>
  );
}

function Queue() {
  const scope = useScope();
  const pages = usePages(LearningQueueDocument, { scope, first: 30 });
  const accept = useChange(AcceptCandidateDocument, {
    said: (accepted) => `${accepted.result.name} is remembered.`,
    undo: (accepted) => helix.run(ForgetDocument, { nameOrId: accepted.result.id }),
  });
  const reject = useChange(RejectCandidateDocument, {
    said: "Rejected: the same is not proposed again.",
    undo: (_, { id }) => helix.run(ReopenCandidateDocument, { id }),
  });
  return (
    <Cases
      pages={pages}
      what="the learning queue"
      done="Nothing waits to be learned."
      idOf={({ id }) => id}
      choices={({ id }) => [
        { key: "a", label: "Remember it", act: () => accept.mutate({ id }) },
        { key: "x", label: "Reject", act: () => reject.mutate({ id }) },
      ]}
    >
      {(candidate) => (
        <>
          <p className="row">
            <KindBadge kind={candidate.kind} />
            <SaidBy who={candidate.saidBy} />
            <span className="badge">{plain(candidate.confidence)} confidence</span>
            <span className="muted small push">
              {[candidate.agent, candidate.scope].filter(Boolean).join(", ")} <Time at={candidate.recordedAt} />
            </span>
          </p>
          <Words text={candidate.trigger} most={500} />
          <Words text={candidate.resolution} most={700} className="resolution" />
        </>
      )}
    </Cases>
  );
}

function Duplicates() {
  const scope = useScope();
  const pages = usePages(DuplicatesDocument, { scope, first: 30 });
  const settle = useChange(SettleDuplicateDocument, {
    said: (kept, { winner }) => (winner === "both" ? "Both stay; the pair is not shown again." : `Folded into ${kept.name}.`),
    undo: async (_, { a, b, winner }) => {
      if (winner !== "both") await helix.run(UnmergeDocument, { nameOrId: winner === a ? b : a });
      return helix.run(ReopenDuplicateDocument, { a, b }); // else the two are kept apart from now on
    },
  });
  return (
    <Cases
      pages={pages}
      what="duplicates"
      done="No two memories say nearly the same."
      idOf={({ first, second }) => `${first.id} ${second.id}`}
      choices={({ first, second }) => [
        { key: "1", label: "Fold into the first", act: () => settle.mutate({ a: first.id, b: second.id, winner: first.id }) },
        { key: "2", label: "Fold into the second", act: () => settle.mutate({ a: first.id, b: second.id, winner: second.id }) },
        { key: "b", label: "Keep both", act: () => settle.mutate({ a: first.id, b: second.id, winner: "both" }) },
      ]}
    >
      {({ first, second, similarity }) => (
        <>
          <p className="small muted">alike to {(100 * similarity).toFixed(0)} %</p>
          <div className="columns">
            <Side memory={first} />
            <Side memory={second} />
          </div>
          <Changes before={`${first.trigger}\n${first.resolution}`} after={`${second.trigger}\n${second.resolution}`} />
        </>
      )}
    </Cases>
  );
}

/** Questions that nothing answered. */
function Gaps() {
  const scope = useScope();
  const pages = usePages(MemoriesDocument, { scope, kinds: ["GAP"] as const, first: 30 } as { scope: string | null; kinds: "GAP"[]; first: number });
  const link = useLink();
  if (pages.error && !pages.items.length) return <Failed error={pages.error} again={pages.refetch} />;
  if (pages.isPending) return <Loading what="gaps" />;
  if (!pages.items.length) return <Empty title="No question went unanswered." />;
  return (
    <>
      <p className="muted small">{count(pages.total, "question")} that nothing in the store answered. Storing the answer closes the gap.</p>
      <ol className="cases">
        {pages.items.map((gap) => (
          <li key={gap.name} className="case">
            <p className="row">
              <Link className="link" href={link("/", { q: gap.trigger })}>
                ask it again
              </Link>
              <span className="muted small push">
                <Time at={gap.recordedAt} />
              </span>
            </p>
            <Words text={gap.trigger} />
            <Actions memory={gap} />
          </li>
        ))}
      </ol>
      <More of={pages} />
    </>
  );
}
