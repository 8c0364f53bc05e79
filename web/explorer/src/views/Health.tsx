/** How the daemon and its store stand: work, disk, models, settings, agents and the log. */
import {
  AgentsDocument,
  BackgroundDocument,
  CancelJobDocument,
  CancelWorkDocument,
  ConfigDocument,
  DoctorDocument,
  FlushDocument,
  JobsDocument,
  LogsDocument,
  PauseDocument,
  PauseWorkerDocument,
  StatusDocument,
  UndoDocument,
} from "helix-memory";
import type { JobFragment, StatusReportFragment, WorkItemFragment } from "helix-memory";
import { useState } from "react";
import { Button, Input, Label, ProgressBar, SearchField, TabList, TabPanel, Tabs } from "react-aria-components";

import { useAddress } from "../address";
import { useAnswer, useChange, usePages } from "../api";
import { Show } from "../parts/states";
import { ViewTab } from "../parts/tab";
import { Table } from "../parts/table";
import { bytes, count, plain, Time, Words } from "../parts/text";
import { HEALTH, tabName } from "../shell/views";
import { Latencies } from "./Latency";

export function Health() {
  const address = useAddress();
  return (
    <div className="page">
      <h1>Health</h1>
      <Tabs selectedKey={address.oneOf("tab", HEALTH)} onSelectionChange={(tab) => address.set({ tab: String(tab) }, { push: true })}>
        <TabList className="tabs" aria-label="Health">
          {HEALTH.map((id) => (
            <ViewTab key={id} id={id}>
              {tabName(id)}
            </ViewTab>
          ))}
        </TabList>
        <TabPanel id="overview">
          <Overview />
        </TabPanel>
        <TabPanel id="work">
          <Work />
        </TabPanel>
        <TabPanel id="models">
          <Models />
        </TabPanel>
        <TabPanel id="settings">
          <Settings key={address.get("find")} find={address.get("find")} />
        </TabPanel>
        <TabPanel id="agents">
          <Agents />
        </TabPanel>
        <TabPanel id="checks">
          <Checks />
        </TabPanel>
        <TabPanel id="log">
          <Log />
        </TabPanel>
      </Tabs>
    </div>
  );
}

function useStatus() {
  return useAnswer(StatusDocument, {}, { every: 10_000 });
}

function Facts({ rows }: { rows: readonly (readonly [string, React.ReactNode])[] }) {
  return (
    <dl className="facts wide">
      {rows
        .filter(([, value]) => value !== null && value !== "" && value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

function Overview() {
  const status = useStatus();
  const pause = useChange(PauseDocument, { said: (on) => (on ? "Capture is paused." : "Capture goes on.") });
  return (
    <Show of={status} what="the status">
      {(found) => (
        <>
          {found.warnings.map((warning) => (
            <p key={warning} className="edge">
              {warning}
            </p>
          ))}
          <Facts
            rows={[
              ["version", found.version],
              ["store", <code key="store">{found.store}</code>],
              ["running since", <Time key="since" at={found.startedAt} />],
              ["recall", `${found.mode}, ${found.model || "no model"}`],
              ["rows in the journal", found.journalRows.toLocaleString()],
              ["rows in the graph", `${found.appliedSeq.toLocaleString()}${found.refused ? `, ${count(found.refused, "change")} that it refuses` : ""}`],
              ["edges", found.edges.toLocaleString()],
              ["memory of the daemon", bytes(found.memoryBytes)],
              ["the journal grows by", `${bytes(found.journalBytesWeek)} a week`],
              ["held back from memory", `${(100 * found.holdback).toFixed(0)} % of the tasks, to measure what memory is worth`],
            ]}
          />
          <h2>Nodes</h2>
          <Facts rows={found.nodes.map(({ name, value }) => [plain(name), value.toLocaleString()] as const)} />
          <h2>Disk</h2>
          <Disk parts={found.diskBytes} />
          <h2>How long answers take</h2>
          <Latencies />
          <p className="row">
            <Button className="button" onPress={() => pause.mutate({ on: !found.paused })}>
              {found.paused ? "Go on capturing" : "Pause capture"}
            </Button>
            <span className="muted small">{found.paused ? "Nothing new is kept until you go on." : "While it is paused, nothing new is kept."}</span>
          </p>
        </>
      )}
    </Show>
  );
}

function Disk({ parts }: { parts: StatusReportFragment["diskBytes"] }) {
  const most = Math.max(1, ...parts.map(({ value }) => value));
  return (
    <table className="table narrow">
      <tbody>
        {parts.map(({ name, value }) => (
          <tr key={name}>
            <th scope="row">{plain(name)}</th>
            <td aria-hidden="true">
              <svg className="bar sum" viewBox="0 0 100 8" preserveAspectRatio="none">
                <rect width={(100 * value) / most} height="8" rx="1.5" />
              </svg>
            </td>
            <td className="figure">{bytes(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Work() {
  const background = useAnswer(BackgroundDocument, { limit: 40 }, { every: 3_000 });
  const pause = useChange(PauseWorkerDocument, { said: (on) => (on ? "Background work is paused." : "Background work goes on.") });
  const flush = useChange(FlushDocument, { said: "Everything that waits is worked through now." });
  return (
    <>
      <Show of={background} what="the background work">
        {(found) => (
          <>
            <Facts
              rows={[
                ["now", found.running ? `${plain(found.running.kind)} ${found.progress}` : found.paused ? "paused" : "idle"],
                ["queued", found.queued.toLocaleString()],
                ["failed", found.failed.toLocaleString()],
                ["without a vector yet", found.lackingVectors.toLocaleString()],
                [
                  "gate",
                  found.gate.read > 0 && `${count(found.gate.read, "episode")} read, ${found.gate.dropped} with nothing to keep`,
                ],
              ]}
            />
            <p className="row">
              <Button className="button" onPress={() => pause.mutate({ on: !found.paused })}>
                {found.paused ? "Go on" : "Pause"}
              </Button>
              <Button className="button quiet" onPress={() => flush.mutate({})}>
                Work through everything now
              </Button>
            </p>
            <h2>Background work</h2>
            {found.items.length === 0 ? <p className="muted">Nothing was done yet.</p> : <Items items={found.items} />}
          </>
        )}
      </Show>
      <h2>Jobs</h2>
      <Jobs first={30} />
    </>
  );
}

function Items({ items }: { items: readonly WorkItemFragment[] }) {
  const undo = useChange(UndoDocument, {
    said: (report) => `Taken back: ${count(report.restored, "row")}${report.conflicts.length ? `; ${count(report.conflicts.length, "row")} had changed since` : ""}.`,
  });
  const cancel = useChange(CancelWorkDocument, { said: "Cancelled." });
  return (
    <Table label="Background work">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">State</th>
          <th scope="col">When</th>
          <th scope="col">What came of it</th>
          <th scope="col" />
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={item.id}>
            <td>{plain(item.kind)}</td>
            <td>{plain(item.state)}</td>
            <td>
              <Time at={item.endedAt ?? item.startedAt ?? item.createdAt} />
            </td>
            <td className="small">
              {item.error ? <Words text={item.error} most={200} /> : <Words text={figures(item.result.map(({ name, value }) => [name, value]))} most={200} />}
            </td>
            <td>
              {item.state === "DONE" && item.changed && (
                <Button className="button quiet" onPress={() => undo.mutate({ job: item.id })}>
                  Undo
                </Button>
              )}
              {item.state === "QUEUED" && (
                <Button className="button quiet" onPress={() => cancel.mutate({ id: item.id })}>
                  Cancel
                </Button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** Says the parts of a result that are numbers or words, but not zero or empty. */
const figures = (parts: readonly (readonly [string, unknown])[]): string =>
  parts
    .filter(([, value]) => (typeof value === "number" || typeof value === "string") && value)
    .map(([name, value]) => `${plain(name)} ${String(value)}`)
    .join(", ");

/** The jobs of the daemon since it started, the newest first. */
export function Jobs({ first }: { first: number }) {
  const jobs = usePages(JobsDocument, { first });
  return (
    <Show of={jobs} what="the jobs">
      {() => (jobs.items.length === 0 ? <p className="muted">None since the daemon started.</p> : <JobList jobs={jobs.items} />)}
    </Show>
  );
}

function JobList({ jobs }: { jobs: readonly JobFragment[] }) {
  const cancel = useChange(CancelJobDocument, { said: "Cancelled." });
  return (
    <ul className="plain">
      {jobs.map((job) => (
        <li key={job.id} className="job">
          <span className="row">
            <strong>{plain(job.kind)}</strong>
            <span className="badge">{plain(job.state)}</span>
            <span className="muted small">
              <Time at={job.startedAt} />
            </span>
            {job.state === "RUNNING" && (
              <Button className="button quiet push" onPress={() => cancel.mutate({ id: job.id })}>
                Cancel
              </Button>
            )}
          </span>
          {job.state === "RUNNING" && (
            <ProgressBar
              className="progress"
              aria-label={plain(job.kind)}
              isIndeterminate={job.total === 0}
              value={job.done}
              maxValue={job.total || 1}
            >
              {({ percentage, valueText }) => (
                <>
                  <span className="small muted">
                    {job.message} {job.total ? `${job.done.toLocaleString()} of ${job.total.toLocaleString()}` : valueText}
                  </span>
                  <svg className="bar sum" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                    <rect width={percentage ?? 30} height="8" rx="1.5" />
                  </svg>
                </>
              )}
            </ProgressBar>
          )}
          {job.error ? <p className="wrong-words">{job.error}</p> : job.state === "DONE" && <p className="small">{figures(Object.entries(job.result ?? {}))}</p>}
        </li>
      ))}
    </ul>
  );
}

function Models() {
  const status = useStatus();
  return (
    <Show of={status} what="the models">
      {(found) => (
        <>
          <Facts
            rows={[
              ["embedding model", found.model || "none: recall goes by words alone"],
              ["dimensions", found.dimension ? String(found.dimension) : ""],
            ]}
          />
          <h2>Language models</h2>
          {found.models === null || found.models.providers.length === 0 ? (
            <p className="muted">None is set. None is needed: they only make background work better.</p>
          ) : (
            <Table label="Language models">
              <thead>
                <tr>
                  <th scope="col">Model</th>
                  <th scope="col">Where</th>
                  <th scope="col">State</th>
                </tr>
              </thead>
              <tbody>
                {found.models.providers.map((provider) => (
                  <tr key={provider.model}>
                    <td>{provider.model}</td>
                    <td>{provider.place}</td>
                    <td>{provider.trouble || provider.state}</td>
                  </tr>
                ))}
              </tbody>
            </Table>
          )}
          {found.models && (
            <>
              <h2>What they cost</h2>
              <p>
                {count(found.models.calls, "call")}, {count(found.models.cacheHits, "answer")} kept; {found.models.paidTokens.toLocaleString()} paid tokens this
                month, of {found.models.budget.toLocaleString()} that are allowed.
              </p>
              {found.models.spend.length > 0 && (
                <Table label="What they cost">
                  <thead>
                    <tr>
                      <th scope="col">Month</th>
                      <th scope="col">Provider</th>
                      <th scope="col">Calls</th>
                      <th scope="col">Tokens in</th>
                      <th scope="col">Tokens out</th>
                      <th scope="col">Cost</th>
                    </tr>
                  </thead>
                  <tbody>
                    {found.models.spend.map((spent) => (
                      <tr key={`${spent.month} ${spent.provider}`}>
                        <td>{spent.month}</td>
                        <td>{spent.provider}</td>
                        <td>{spent.calls}</td>
                        <td>{spent.tokensIn.toLocaleString()}</td>
                        <td>{spent.tokensOut.toLocaleString()}</td>
                        <td>${spent.cost.toFixed(2)}</td>
                      </tr>
                    ))}
                  </tbody>
                </Table>
              )}
            </>
          )}
        </>
      )}
    </Show>
  );
}

/** `find`: what to look for at first. */
function Settings({ find }: { find: string }) {
  const config = useAnswer(ConfigDocument, {});
  const [wanted, setWanted] = useState(find);
  return (
    <Show of={config} what="the settings">
      {(settings) => (
        <>
          <SearchField className="field" value={wanted} onChange={setWanted}>
            <Label>Find a setting</Label>
            <Input />
          </SearchField>
          <p className="muted small">
            They are set in <code>config.toml</code> in Helix's home or by their variables, and hold from the next start on.
          </p>
          <Table label="Settings">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Value</th>
                <th scope="col">Set by</th>
                <th scope="col">What it means</th>
              </tr>
            </thead>
            <tbody>
              {settings
                .filter(({ name, help }) => `${name} ${help}`.toLowerCase().includes(wanted.toLowerCase()))
                .map((setting) => (
                  <tr key={setting.name}>
                    <td>
                      <code title={setting.variable}>{setting.name}</code>
                    </td>
                    <td>
                      <code>{setting.value ?? ""}</code>
                    </td>
                    <td>{setting.source}</td>
                    <td className="small">{setting.help}</td>
                  </tr>
                ))}
            </tbody>
          </Table>
        </>
      )}
    </Show>
  );
}

function Agents() {
  const agents = useAnswer(AgentsDocument, {});
  return (
    <Show of={agents} what="the agents">
      {(found) => (
        <>
          <p className="muted small">
            <code>helix connect NAME</code> connects one, <code>helix disconnect NAME</code> gives every byte back.
          </p>
          <Table label="Agents">
            <thead>
              <tr>
                <th scope="col">Agent</th>
                <th scope="col">On this machine</th>
                <th scope="col">Connected to this store</th>
                <th scope="col">Where</th>
              </tr>
            </thead>
            <tbody>
              {found.map((agent) => (
                <tr key={agent.client}>
                  <td>{agent.name}</td>
                  <td>{agent.installed ? "yes" : "no"}</td>
                  <td>
                    {agent.connected || "no"}
                    {agent.connected && agent.hooks && ", with hooks"}
                  </td>
                  <td className="small">
                    <code>{agent.file}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </Table>
        </>
      )}
    </Show>
  );
}

function Checks() {
  const doctor = useAnswer(DoctorDocument, {});
  return (
    <Show of={doctor} what="the checks">
      {(report) => (
        <ul className="plain">
          {report.findings.map(({ check, ok, detail, hint }) => (
            <li key={check}>
              <span className={`badge outcome ${ok ? "delivered" : "blocked"}`}>{ok ? "well" : "amiss"}</span> <strong>{check}</strong>{" "}
              {detail} {!ok && hint && <em>{hint}</em>}
            </li>
          ))}
        </ul>
      )}
    </Show>
  );
}

function Log() {
  const logs = useAnswer(LogsDocument, { lines: 200 }, { every: 5_000 });
  return (
    <Show of={logs} what="the log">
      {(lines) =>
        lines.length === 0 ? (
          <p className="muted">The log is empty.</p>
        ) : (
          <pre className="log" tabIndex={0} aria-label="The log, the newest line last">
            {lines.map(({ at, level, text }, place) => (
              <span key={place} className={`log-line ${level.toLowerCase()}`}>
                {at ? `${at.slice(0, 19).replace("T", " ")} ` : ""}
                {level} {text}
                {"\n"}
              </span>
            ))}
          </pre>
        )
      }
    </Show>
  );
}
