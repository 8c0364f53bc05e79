/** Recall as one types, and everything there is by its facets. All that is shown stands in the address. */
import { FacetsDocument, MemoriesDocument, RecallDocument, CompletionsDocument } from "helix-memory";
import type { MemoryFragment, RecallItemFragment, Status } from "helix-memory";
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { Button, Input, Label, SearchField, ToggleButton } from "react-aria-components";

import { useAddress, useScope } from "../address";
import { useAnswer, usePages } from "../api";
import { KINDS } from "../parts/actions";
import { Badges, SaidBy, TRUSTS, wordsOf } from "../parts/badges";
import { DateField, Facet, Pick, TimePick } from "../parts/controls";
import { Days, daysAgo, endOf, startOf, timeOf } from "../parts/days";
import { Panel } from "../parts/panel";
import { Rows } from "../parts/rows";
import { Empty, Failed, Loading } from "../parts/states";
import { Beginning, count, Line, plain, When } from "../parts/text";
import { Detail, Section } from "./Detail";

function useFilters() {
  const { get, some } = useAddress();
  const scope = useScope();
  const [kinds, trust, statuses] = [some("kind", KINDS), some("trust", TRUSTS), some("status", STATUSES)];
  const status = statuses.length ? statuses : USUAL;
  return { scope, kinds, status, trust, since: startOf(get("since")), until: endOf(get("until")), time: timeOf(get("time")) };
}
type Filters = ReturnType<typeof useFilters>;

const STATUSES = ["ACTIVE", "ARCHIVED", "RETIRED", "FORGOTTEN", "QUARANTINED"] as const;
const USUAL: Status[] = ["ACTIVE"]; // what is listed where the address says no status
const isUsual = (statuses: readonly string[]) => String(statuses) === String(USUAL);
const ANSWERING: readonly Status[] = ["ACTIVE", "ARCHIVED"]; // what a question can be answered with
const answering = (statuses: readonly Status[]): Status[] => {
  const found = statuses.filter((one) => ANSWERING.includes(one));
  return found.length ? found : USUAL;
};
const A_FEW = 20; // answers to a question
const MOST = 160;
const NO_ITEMS: readonly RecallItemFragment[] = [];

export function Ask() {
  const address = useAddress();
  const question = address.get("q");
  const open = address.get("open");
  const item = useRecall(question, "").items.find(({ node }) => node.id === open || ("name" in node && node.name === open));
  return (
    <div className={`ask ${open ? "with-detail" : ""}`}>
      <h1 className="hidden">Ask</h1>
      <Question />
      <Filters asked={question !== ""} />
      <section className="results" aria-label="Memories">
        {question.trim() ? <Answers question={question} /> : <Browse />}
      </section>
      {open && (
        <Panel of={open} label="One memory" close={() => address.set({ open: null })}>
          <Detail nameOrId={open} item={item} />
        </Panel>
      )}
    </div>
  );
}

/** The field, apart from what stands below it: a key draws the field alone anew. */
function Question() {
  const address = useAddress();
  const question = address.get("q");
  const [typed, setTyped] = useState(question);
  const field = useRef<HTMLInputElement>(null);
  const written = useRef(question);
  // The address follows what is typed, and the field what is led to by a link.
  useEffect(() => {
    if (question !== written.current) setTyped((written.current = question));
  }, [question]);
  useEffect(() => {
    const timer = window.setTimeout(() => {
      if (typed !== written.current) address.set({ q: (written.current = typed) });
    }, 250);
    return () => window.clearTimeout(timer);
  }, [typed, address]);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key === "/" && !(event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement)) {
        event.preventDefault();
        field.current?.focus();
      }
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
  return (
    <SearchField className="ask-field" value={typed} onChange={setTyped}>
      <Label className="hidden">What do you want to know?</Label>
      <Input ref={field} placeholder="What do you want to know? An error, a command, a question. “/” comes here." />
    </SearchField>
  );
}

function Filters({ asked }: { asked: boolean }) {
  const address = useAddress();
  const filters = useFilters();
  const facets = useAnswer(FacetsDocument, filters);
  // Of a question the counts are not known: those of the store would say something else.
  const upper = (counts: readonly { value: string; count: number }[]) =>
    counts.map(({ value, count }) => ({ value: value.toUpperCase(), count: asked ? null : count }));
  const { data } = facets;
  const [shown, setShown] = useState(false);
  const chosen = ["kind", "status", "trust", "since", "until"].filter((name) => address.get(name)).length;
  return (
    <>
      <ToggleButton className="button filters-button" isSelected={shown} onChange={setShown}>
        Filters{chosen > 0 && ` (${chosen})`}
      </ToggleButton>
      <section className={`filters ${shown ? "shown" : ""}`} aria-label="Filters">
        <Facet label="Kind" counts={upper(data?.kinds ?? [])} chosen={filters.kinds} onChange={(kind) => address.set({ kind })} />
        <Facet
          label="Who says it"
          counts={upper(data?.trusts ?? [])}
          chosen={filters.trust}
          named={wordsOf}
          onChange={(trust) => address.set({ trust })}
        />
        <Facet
          label="Status"
          counts={asked ? ANSWERING.map((value) => ({ value, count: null })) : upper(data?.statuses ?? [])}
          chosen={asked ? answering(filters.status) : filters.status}
          onChange={(chosen) => address.set({ status: isUsual(chosen) ? null : chosen })}
        />
        {asked && filters.status.some((one) => !ANSWERING.includes(one)) && (
          <p className="muted small">A question is answered with what is active or archived. The list without a question has the rest.</p>
        )}
        {!filters.scope && (
          <Facet
            label="Scope"
            counts={(data?.scopes ?? []).map(({ value, count }) => ({ value, count: asked ? null : count }))}
            chosen={[]}
            named={(scope) => scope}
            onChange={([scope]) => address.set({ scope })}
          />
        )}
        <fieldset className="facet">
          <legend>Time</legend>
          <div className="row">
            {[7, 30].map((days) => (
              <Button
                key={days}
                className="button quiet"
                onPress={() => address.set({ time: "recorded", since: daysAgo(days), until: null }, { push: true })}
              >
                learned in {days} days
              </Button>
            ))}
          </div>
          <TimePick />
          <DateField label="since" value={address.get("since")} onChange={(since) => address.set({ since })} />
          <DateField label="until" value={address.get("until")} onChange={(until) => address.set({ until })} />
        </fieldset>
        {asked && <Beside />}
      </section>
    </>
  );
}

/** Another recipe, or another day, whose answer stands beside the first. */
function Beside() {
  const address = useAddress();
  const recipes = useAnswer(CompletionsDocument, { of: "RECIPES" });
  const choices = [{ id: "", label: "default" }, ...(recipes.data ?? []).map((id) => ({ id, label: id }))];
  const asked = ["recipe", "asOf", "knownAt"].some((name) => address.get(name));
  const compared = ["recipe2", "asOf2", "knownAt2"].some((name) => address.get(name));
  return (
    <>
      <Section title="Ask it otherwise" open={asked}>
        <fieldset className="facet">
          <Pick label="Recipe" value={address.get("recipe")} choices={choices} onChange={(recipe) => address.set({ recipe })} />
          <DateField label="as it held on" value={address.get("asOf")} onChange={(asOf) => address.set({ asOf })} />
          <DateField label="as known on" value={address.get("knownAt")} onChange={(knownAt) => address.set({ knownAt })} />
        </fieldset>
      </Section>
      <Section title="Compare with" open={compared}>
        <fieldset className="facet">
          <Pick
            label="Recipe"
            value={address.get("recipe2")}
            choices={[{ id: "", label: "nothing else" }, ...choices.slice(1)]}
            onChange={(recipe2) => address.set({ recipe2 })}
          />
          <DateField label="as it held on" value={address.get("asOf2")} onChange={(asOf2) => address.set({ asOf2 })} />
          <DateField label="as known on" value={address.get("knownAt2")} onChange={(knownAt2) => address.set({ knownAt2 })} />
        </fieldset>
      </Section>
    </>
  );
}

function useRecall(question: string, suffix: "" | "2") {
  const { get, number } = useAddress();
  const { scope, kinds, status, trust, since, until, time } = useFilters();
  const limit = number("most", A_FEW);
  const [recipe, asOf, knownAt] = ["recipe", "asOf", "knownAt"].map((name) => get(name + suffix)) as [string, string, string];
  const other = Boolean(recipe || asOf || knownAt);
  const answer = useAnswer(
    RecallDocument,
    {
      query: question,
      scope,
      kinds,
      status: answering(status),
      trust,
      since,
      until,
      time,
      limit,
      explain: true,
      recipe: recipe || null,
      asOf: endOf(asOf),
      knownAt: endOf(knownAt),
      session: suffix ? "" : "explorer", // the answer that reasons are told of is the first one
      everything: get("all") === "1",
    },
    { when: question.trim() !== "" && (suffix === "" || other) },
  );
  const items = answer.data?.items ?? NO_ITEMS;
  const name = [recipe, asOf && `as it held on ${asOf}`, knownAt && `as known on ${knownAt}`].filter(Boolean).join(", ");
  return { ...answer, items, limit, other, name: name || "default" };
}

function Answers({ question }: { question: string }) {
  const asked = useDeferredValue(question);
  const address = useAddress();
  const first = useRecall(asked, "");
  const second = useRecall(asked, "2");
  const places = useMemo(() => places_of(first.items), [first.items]);
  const places2 = useMemo(() => places_of(second.items), [second.items]);
  if (first.error && !first.data) return <Failed error={first.error} again={first.refetch} />;
  if (!first.data) return <Loading what="memories" />;
  return (
    <div className={first.isPlaceholderData ? "stale" : ""}>
      <div className={second.other ? "columns" : ""}>
        <div>
          {second.other && <h2>{first.name}</h2>}
          {first.items.length === 0 && (
            <Empty title="Nothing that is known fits.">
              {address.get("all") !== "1" && (
                <Button className="button" onPress={() => address.set({ all: "1" })}>
                  Show what is nearest
                </Button>
              )}
            </Empty>
          )}
          <ol className="cards">
            {first.items.map((item, place) => (
              <Answer key={item.node.id} item={item} place={place} other={second.other && second.data ? places2.get(item.node.id) ?? -1 : null} />
            ))}
          </ol>
        </div>
        {second.other && (
          <div>
            <h2>{second.name}</h2>
            {second.error ? <Failed error={second.error} /> : null}
            <ol className="cards">
              {second.items.map((item, place) => (
                <Answer key={item.node.id} item={item} place={place} other={places.get(item.node.id) ?? -1} />
              ))}
            </ol>
          </div>
        )}
      </div>
      <p className="muted small">
        {count(first.items.length, "result")}, {count(first.data.tokens, "token")}, {first.data.mode}
        {first.data.notes.map((note) => `; ${note}`)}
      </p>
      {first.items.length >= first.limit && first.limit < MOST && (
        <Button className="button" onPress={() => address.set({ most: String(Math.min(MOST, 2 * first.limit)) })}>
          Show more
        </Button>
      )}
    </div>
  );
}

const places_of = (items: readonly RecallItemFragment[]) => new Map(items.map(({ node }, place) => [node.id, place]));

function Answer({ item, place, other }: { item: RecallItemFragment; place: number; other: number | null }) {
  const address = useAddress();
  const { node } = item;
  const isOpen = address.get("open") === node.id;
  const moved = other === null || other === place ? "" : other < 0 ? "only here" : other > place ? `↑ from ${other + 1}` : `↓ from ${other + 1}`;
  return (
    <li className={`card ${isOpen ? "open" : ""} ${other === -1 ? "only" : ""}`}>
      <Button
        className="card-button"
        aria-expanded={isOpen}
        onPress={() => address.set({ open: isOpen ? null : node.id }, { push: true })}
      >
        <span className="row">
          <Score score={item.score} />
          {node.__typename === "Memory" ? (
            <>
              <bdi className="name">{node.name}</bdi>
              <Badges memory={node} />
            </>
          ) : (
            <>
              <span className="name">{plain(item.label)}</span>
              <SaidBy who={"saidBy" in node ? node.saidBy : ""} />
            </>
          )}
          {moved && <span className="badge moved">{moved}</span>}
          <span className="push muted small">
            {"recordedAt" in node && <When happened={happenedAt(node)} recorded={node.recordedAt} />}
          </span>
        </span>
        <Beginning text={item.text} most={320} />
        {item.standing && <span className="standing">{item.standing}</span>}
        <span className="muted small">{item.reason}</span>
      </Button>
    </li>
  );
}

const happenedAt = (node: RecallItemFragment["node"]) =>
  "validFrom" in node ? node.validFrom : "occurredAt" in node ? node.occurredAt : null;

function Score({ score }: { score: number }) {
  return (
    <span className="score" title={`Its score is ${score.toFixed(3)}.`}>
      <svg viewBox="0 0 28 6" aria-hidden="true">
        <rect className="score-back" width="28" height="6" rx="3" />
        <rect width={Math.max(2, 28 * Math.min(1, score))} height="6" rx="3" />
      </svg>
      {score.toFixed(2)}
    </span>
  );
}

/** What there is, without a question: the newest first, by facets, with a picture of the days. */
function Browse() {
  const address = useAddress();
  const filters = useFilters();
  const pages = usePages(MemoriesDocument, { ...filters, first: 60 });
  const facets = useAnswer(FacetsDocument, filters);
  const { items } = pages;
  if (pages.error && !pages.data) return <Failed error={pages.error} again={pages.refetch} />;
  if (pages.isPending) return <Loading what="memories" />;
  if (items.length === 0) return <Nothing filtered={pages.total === 0 && isFiltered(filters)} />;
  return (
    <>
      <Days
        days={(facets.data?.days ?? []).map(({ day, memories }) => ({ day, number: memories }))}
        label={filters.time === "RECORDED" ? "When it was learned" : "When it happened"}
        said={(number) => count(number, "memory", "memories")}
        onPick={(since, until) => address.set({ since, until }, { push: true })}
      />
      <p className="muted small">{count(pages.total, "memory", "memories")}, the {filters.time === "RECORDED" ? "latest learned" : "newest"} first</p>
      <Rows
        items={items}
        more={pages.more}
        hasMore={pages.hasMore}
        label="Memories"
        textOf={(memory) => memory.name}
        onOpen={({ id }) => address.set({ open: address.get("open") === id ? null : id }, { push: true })}
      >
        {(memory) => <Row memory={memory} isOpen={address.get("open") === memory.id} />}
      </Rows>
    </>
  );
}

const isFiltered = (filters: Filters): boolean =>
  Boolean(filters.kinds.length || !isUsual(filters.status) || filters.trust.length || filters.since || filters.until || filters.scope);

function Nothing({ filtered }: { filtered: boolean }) {
  const address = useAddress();
  if (filtered)
    return (
      <Empty title="No memory passes these filters.">
        <Button
          className="button"
          onPress={() => address.set({ kind: null, status: null, trust: null, since: null, until: null, scope: null })}
        >
          Take the filters away
        </Button>
      </Empty>
    );
  return (
    <Empty title="Nothing is remembered yet.">
      <p>In a repository, <code>helix ingest git .</code> takes in its history.</p>
      <p><code>helix connect all</code> has your agents use this memory.</p>
      <p><code>helix store "Run the linter before pushing" --kind convention</code> stores something by hand.</p>
    </Empty>
  );
}

function Row({ memory, isOpen }: { memory: MemoryFragment; isOpen: boolean }) {
  return (
    <div className={`memory-row ${isOpen ? "open" : ""}`}>
      <span className="row">
        <Line text={memory.trigger} />
        <span className="push muted small">
          <When happened={memory.validFrom} recorded={memory.recordedAt} />
        </span>
      </span>
      <span className="row">
        <Badges memory={memory} />
        <span className="muted small">
          <Line text={memory.resolution} most={110} />
        </span>
      </span>
    </div>
  );
}
