/** What happened: sessions and what was recorded in them, the newest first, and the plans with their tasks. */
import { EpisodesDocument, FacetsDocument, PlansDocument, SessionsDocument, ShowingsDocument } from "helix-memory";
import type { EpisodeFragment } from "helix-memory";
import { useMemo } from "react";
import { Button, Link, TabList, TabPanel, Tabs } from "react-aria-components";
import { useNavigate, useParams } from "react-router";

import { sessionPath, useAddress, useLink, useScope } from "../address";
import { useAnswer, usePages } from "../api";
import { Axis } from "../parts/axis";
import type { Heap, Stretch } from "../parts/axis";
import { SaidBy, StatusBadge } from "../parts/badges";
import { TimePick } from "../parts/controls";
import { Days, endOf, span, startOf, timeOf } from "../parts/days";
import type { TimeOf } from "../parts/days";
import { More } from "../parts/more";
import { Panel } from "../parts/panel";
import { Rows } from "../parts/rows";
import { Empty, Failed, Loading } from "../parts/states";
import { ViewTab } from "../parts/tab";
import { count, fullTime, Line, Time, When } from "../parts/text";
import { Showings } from "../parts/showings";
import { HAPPENED, tabName } from "../shell/views";
import { Detail, Section, useTitle } from "./Detail";

export function Happened() {
  const address = useAddress();
  return (
    <div className="page">
      <h1>What happened</h1>
      <Tabs selectedKey={address.oneOf("tab", HAPPENED)} onSelectionChange={(tab) => address.set({ tab: String(tab), open: null }, { push: true })}>
        <TabList className="tabs" aria-label="What happened">
          {HAPPENED.map((id) => (
            <ViewTab key={id} id={id}>
              {tabName(id)}
            </ViewTab>
          ))}
        </TabList>
        <TabPanel id="timeline">
          <TimeLine />
        </TabPanel>
        <TabPanel id="sessions">
          <Sessions />
        </TabPanel>
        <TabPanel id="episodes">
          <Episodes />
        </TabPanel>
        <TabPanel id="plans">
          <Plans />
        </TabPanel>
      </Tabs>
    </div>
  );
}

/** All that happened in a stretch of time, which the address says: on an axis, and as lists. */
function TimeLine() {
  const scope = useScope();
  const facets = useAnswer(FacetsDocument, { scope, anyStatus: true, time: "HAPPENED" });
  const first = useAnswer(SessionsDocument, { scope, first: 1 });
  const days = useMemo(() => (facets.data?.days ?? []).filter(({ episodes }) => episodes > 0), [facets.data]);
  const latest = first.data?.edges.map(({ node }) => node.startedAt.slice(0, 10)) ?? [];
  const failed = [facets, first].find(({ data, error }) => error && !data);
  if (failed) return <Failed error={failed.error} again={failed.refetch} />;
  if (!facets.data || !first.data) return <Loading what="what happened" />;
  if (!days.length && !latest.length) return <NoSession />;
  return <Stretched days={days} whole={stretchOf([...days.map(({ day }) => day), ...latest])} />;
}

interface EpisodesOf {
  day: string;
  episodes: number;
}

function Stretched({ days, whole }: { days: readonly EpisodesOf[]; whole: Stretch }) {
  const scope = useScope();
  const link = useLink();
  const navigate = useNavigate();
  const { get, latest, set } = useAddress();
  const stretch = (said: (name: string) => string): Stretch => {
    const [from, to] = [known(Date.parse(said("from"))), known(Date.parse(said("to")))];
    return from < to ? { from, to } : whole;
  };
  const shown = stretch(get);
  const [since, until] = [iso(shown.from), iso(shown.to)];
  const before = iso(2 * shown.from - shown.to); // what began then may go on
  const sessions = useAnswer(SessionsDocument, { scope, since: before, until, first: MOST_DRAWN });
  const episodes = useAnswer(EpisodesDocument, { scope, since, until, time: "HAPPENED", first: MOST_DRAWN });
  const spans = (sessions.data?.edges ?? []).map(({ node }) => ({
    id: node.id,
    name: node.name,
    from: Date.parse(node.startedAt),
    to: Date.parse(node.endedAt ?? node.startedAt),
  }));
  const found = episodes.data?.edges ?? [];
  const failed = [sessions, episodes].find(({ data, error }) => error && !data);
  const heaps =
    (episodes.data?.totalCount ?? MOST_DRAWN) < MOST_DRAWN
      ? found.map(({ node }) => Date.parse(node.occurredAt ?? node.recordedAt)).map((at) => ({ from: at, to: at, number: 1 }))
      : heapsOf(days, shown);
  return (
    <>
      <Axis
        label="Time line of sessions and episodes"
        whole={whole}
        shown={shown}
        spans={spans}
        heaps={heaps}
        onShow={(change) => {
          const next = change(stretch(latest));
          set({ from: next && minute(next.from), to: next && minute(next.to) });
        }}
        onOpen={(id) => {
          const node = sessions.data?.edges.find((one) => one.node.id === id)?.node;
          if (node) void navigate(link(sessionPath(node.name), { scope: node.scope }));
        }}
      />
      {failed && <Failed error={failed.error} again={failed.refetch} />}
      <p className="muted small" role="status">
        {span(since.slice(0, 10), until.slice(0, 10))}: {episodes.data ? count(episodes.data.totalCount, "episode") : "…"}
      </p>
      <div className="beside-each-other">
        <section aria-label="Sessions that began then">
          <h2>Sessions</h2>
          <Sessions since={since} until={until} />
        </section>
        <section aria-label="Episodes of then">
          <h2>Episodes</h2>
          <EpisodeList variables={{ scope, since, until, time: "HAPPENED" }} />
        </section>
      </div>
    </>
  );
}

const MOST_DRAWN = 200;
const MOST_HEAPS = 80;
const DAY = 86_400_000;

const [FIRST, LAST] = [Date.parse("0001-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59.999Z")];

/** Returns the nearest time that the schema can write. */
const known = (time: number): number => Math.min(Math.max(time, FIRST), LAST);

const iso = (time: number): string => new Date(known(time)).toISOString();

const minute = (time: number): string => `${iso(time).slice(0, 16)}Z`;

/** Returns from the first of the days to the end of the last one. */
function stretchOf(days: readonly string[]): Stretch {
  const times = days.map((day) => Date.parse(day));
  return { from: Math.min(...times), to: known(Math.max(...times) + DAY) };
}

/** Returns how many episodes there are in each of some equal parts, in whole days, of a stretch. */
function heapsOf(days: readonly EpisodesOf[], { from, to }: Stretch): Heap[] {
  const width = Math.ceil((to - from) / DAY / MOST_HEAPS) * DAY;
  const found = new Map<number, number>();
  for (const { day, episodes } of days) {
    const start = Math.floor(Date.parse(day) / width) * width;
    if (start + width > from && start < to) found.set(start, (found.get(start) ?? 0) + episodes);
  }
  return [...found].map(([start, number]) => ({ from: start, to: start + width, number }));
}

function NoSession() {
  return (
    <Empty title="No session is recorded yet.">
      <p><code>helix connect all</code> has your agents record theirs.</p>
      <p><code>helix ingest transcript ~/.claude/projects</code> takes in earlier ones.</p>
    </Empty>
  );
}

/** All sessions, or those that began in a stretch of time. */
function Sessions({ since, until }: { since?: string; until?: string }) {
  const scope = useScope();
  const link = useLink();
  const pages = usePages(SessionsDocument, { scope, since, until, first: 50 });
  if (pages.error && !pages.data) return <Failed error={pages.error} again={pages.refetch} />;
  if (pages.isPending) return <Loading what="sessions" />;
  if (!pages.items.length) return since ? <p className="muted">None began then.</p> : <NoSession />;
  return (
    <>
      <ol className="timeline">
        {pages.items.map((session) => (
          <li key={`${session.scope} ${session.name}`}>
            <span className="muted small">
              <Time at={session.startedAt} />
            </span>
            <span>
              <Link className="link" href={link(sessionPath(session.name), { scope: session.scope })}>
                <bdi>{session.name}</bdi>
              </Link>{" "}
              {session.agent && <span className="badge">{session.agent}</span>}{" "}
              {session.private && <span className="badge">private</span>}{" "}
              <span className="muted small">
                {session.scope}, {count(session.episodes, "episode")}
                {session.endedAt ? "" : ", open"}
              </span>
            </span>
          </li>
        ))}
      </ol>
      <More of={pages} />
    </>
  );
}

/** All episodes, or those of the days that are picked. */
function Episodes() {
  const scope = useScope();
  const { get, set } = useAddress();
  const [since, until, time] = [get("since"), get("until"), timeOf(get("time"))];
  const facets = useAnswer(FacetsDocument, { scope, anyStatus: true, time });
  const days = (facets.data?.days ?? []).map(({ day, episodes }) => ({ day, number: episodes }));
  return (
    <>
      <TimePick />
      <Days
        days={days}
        label={time === "RECORDED" ? "When episodes were recorded" : "When episodes happened"}
        said={(number) => count(number, "episode")}
        onPick={(since, until) => set({ since, until }, { push: true })}
      />
      {(since || until) && (
        <p className="row small">
          {time === "RECORDED" ? "Recorded" : "Happened"} {span(since, until)}
          <Button className="button quiet" onPress={() => set({ since: null, until: null })}>
            Show all
          </Button>
        </p>
      )}
      <EpisodeList variables={{ scope, since: startOf(since), until: endOf(until), time }} />
    </>
  );
}

interface Wanted {
  scope: string | null;
  session?: string;
  since?: string | null;
  until?: string | null;
  time?: TimeOf;
  oldestFirst?: boolean;
}

function EpisodeList({ variables }: { variables: Wanted }) {
  const address = useAddress();
  const pages = usePages(EpisodesDocument, { ...variables, first: 60 });
  const open = address.get("open");
  if (pages.error && !pages.data) return <Failed error={pages.error} again={pages.refetch} />;
  if (pages.isPending) return <Loading what="episodes" />;
  if (!pages.items.length && (variables.since || variables.until)) return <p className="muted">Nothing happened then.</p>;
  if (!pages.items.length)
    return (
      <Empty title="Nothing is recorded here yet.">
        <p><code>helix ingest git .</code> takes in a repository's history; agents record what they do.</p>
      </Empty>
    );
  return (
    <div className={open ? "split" : ""}>
      <Rows
        items={pages.items}
        more={pages.more}
        hasMore={pages.hasMore}
        label="Episodes"
        textOf={({ content }) => content.slice(0, 80)}
        onOpen={({ id }) => address.set({ open: open === id ? null : id }, { push: true })}
      >
        {(episode) => <EpisodeRow episode={episode} isOpen={open === episode.id} />}
      </Rows>
      {open && (
        <Panel of={open} label="One episode" close={() => address.set({ open: null })}>
          <Detail nameOrId={open} />
        </Panel>
      )}
    </div>
  );
}

function EpisodeRow({ episode, isOpen }: { episode: EpisodeFragment; isOpen: boolean }) {
  return (
    <div className={`memory-row ${isOpen ? "open" : ""}`}>
      <span className="row">
        <Line text={episode.content} />
        <span className="push muted small">
          <When happened={episode.occurredAt} recorded={episode.recordedAt} />
        </span>
      </span>
      <span className="row small muted">
        <SaidBy who={episode.saidBy} />
        <StatusBadge status={episode.status} />
        {[episode.role, episode.agent, episode.scope].filter(Boolean).join(", ")}
        {episode.consolidatedAt ? "; read for memories" : ""}
      </span>
    </div>
  );
}

/** One session: whose it was, what was shown in it, and what happened, from its beginning to its end. */
export function SessionView() {
  const { name = "" } = useParams();
  const scope = useScope();
  const found = usePages(SessionsDocument, { name, scope, first: 5 });
  const showings = usePages(ShowingsDocument, { session: name, scope, first: 20 });
  useTitle(name);
  return (
    <div className="page">
      <h1>
        Session <bdi>{name}</bdi>
      </h1>
      {found.items.map((one) => (
        <dl key={one.id} className="facts">
          {(
            [
              ["client", one.agent || "not said"],
              ["scope", one.scope],
              ["began", fullTime(one.startedAt)],
              ["ended", one.endedAt ? fullTime(one.endedAt) : "not yet"],
              ["recorded", count(one.episodes, "episode")],
              ["shown", showings.data ? `memories, ${count(showings.total, "time")}` : ""],
            ] as const
          ).map(([what, words]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>
                <bdi>{words}</bdi>
              </dd>
            </div>
          ))}
        </dl>
      ))}
      {showings.total > 0 && (
        <Section title="What was shown in it" open>
          <Showings of={showings.items} by="memory" />
          <More of={showings} />
        </Section>
      )}
      <h2>What happened in it</h2>
      <EpisodeList variables={{ session: name, scope, oldestFirst: true }} />
    </div>
  );
}

function Plans() {
  const scope = useScope();
  const link = useLink();
  const pages = usePages(PlansDocument, { scope, first: 50 });
  if (pages.error && !pages.data) return <Failed error={pages.error} again={pages.refetch} />;
  if (pages.isPending) return <Loading what="plans" />;
  if (!pages.items.length) return <Empty title="No plan is kept yet.">Planners of connected agents keep theirs here.</Empty>;
  return (
    <>
      <ol className="timeline">
        {pages.items.map((plan) => (
          <li key={plan.id}>
            <span className="muted small">
              <Time at={plan.recordedAt} />
            </span>
            <span>
              <Link className="link" href={link(`/plans/${plan.id}`)}>
                <Line text={plan.objective} />
              </Link>{" "}
              <span className="badge">{plan.status}</span> <span className="muted small">{plan.scope}</span>
            </span>
          </li>
        ))}
      </ol>
      <More of={pages} />
    </>
  );
}

