/** What follows from many memories, and what each insight rests on, down to the episodes. */
import { InsightTreeDocument, ReflectionsDocument } from "helix-memory";
import type { EvidenceFragment } from "helix-memory";
import { useMemo } from "react";
import { Link, Tree, TreeItem, TreeItemContent, Button, Collection } from "react-aria-components";
import { useParams } from "react-router";

import { useLink, useScope } from "../address";
import { useAnswer, usePages } from "../api";
import { SaidBy, StatusBadge } from "../parts/badges";
import { More } from "../parts/more";
import { Empty, Failed, Loading, Show } from "../parts/states";
import { Beginning, count, Line, plain, Time, Words } from "../parts/text";
import { useTitle } from "./Detail";

export function Insights() {
  const scope = useScope();
  const link = useLink();
  const pages = usePages(ReflectionsDocument, { scope, first: 50 });
  return (
    <div className="page">
      <h1>Insights</h1>
      {pages.error && !pages.data ? (
        <Failed error={pages.error} again={pages.refetch} />
      ) : pages.isPending ? (
        <Loading what="insights" />
      ) : pages.items.length === 0 ? (
        <Empty title="No insight was drawn yet.">
          <p>Insights are drawn in the background where several memories say something together.</p>
          <p><code>helix reflect</code> asks for them now.</p>
        </Empty>
      ) : (
        <ul className="cards">
          {pages.items.map((insight) => (
            <li key={insight.id} className="card">
              <Link className="card-button" href={link(`/insights/${insight.id}`)}>
                <span className="row small muted">
                  <Line text={insight.question} />
                  <SaidBy who={insight.saidBy} />
                  <StatusBadge status={insight.status} />
                  <span className="push">
                    level {insight.level}, <Time at={insight.recordedAt} />
                  </span>
                </span>
                <Beginning text={insight.insight} most={400} />
              </Link>
            </li>
          ))}
        </ul>
      )}
      <More of={pages} />
    </div>
  );
}

interface Branch {
  id: string;
  evidence: EvidenceFragment;
  children: Branch[];
}

/** Returns the evidence, which comes in the order of a walk with its depths, as a tree. */
export function treeOf(evidence: readonly EvidenceFragment[]): Branch[] {
  const roots: Branch[] = [];
  const above: Branch[] = [];
  evidence.forEach((one, place) => {
    const branch = { id: `${place} ${one.ref.id}`, evidence: one, children: [] };
    above.length = Math.max(0, Math.min(above.length, one.depth - 1));
    (above.at(-1)?.children ?? roots).push(branch);
    above.push(branch);
  });
  return roots;
}

export function InsightView() {
  const { id = "" } = useParams();
  const insight = useAnswer(InsightTreeDocument, { id }, { keep: false });
  const branches = useMemo(() => treeOf(insight.data?.evidence ?? []), [insight.data]);
  const link = useLink();
  useTitle("Insight");
  return (
    <div className="page">
      <Show of={insight} what="the insight">
        {({ reflection, evidence }) => (
          <>
            <h1>
              <Line text={reflection.insight} most={200} />
            </h1>
            <p className="muted">
              <Line text={reflection.question} />
            </p>
            <Words text={reflection.insight} />
            <p className="muted small">
              level {reflection.level}, confidence {reflection.confidence.toFixed(2)}, <Time at={reflection.recordedAt} />
            </p>
            <h2>It rests on {count(evidence.length, "piece")} of evidence</h2>
            <Tree className="tree" aria-label="Evidence" items={branches} defaultExpandedKeys={branches.map((one) => one.id)}>
              {(branch) => <Piece branch={branch} link={link} />}
            </Tree>
          </>
        )}
      </Show>
    </div>
  );
}

function Piece({ branch, link }: { branch: Branch; link: ReturnType<typeof useLink> }) {
  const { evidence } = branch;
  const to = evidence.ref.label === "REFLECTION" ? `/insights/${evidence.ref.id}` : `/memory/${evidence.ref.id}`;
  return (
    <TreeItem id={branch.id} className="tree-item" textValue={evidence.text.slice(0, 80)}>
      <TreeItemContent>
        {({ hasChildItems, isExpanded, level }) => (
          <span className={`tree-row level-${Math.min(level, 6)}`}>
            {hasChildItems ? (
              <Button slot="chevron" className="button quiet icon" aria-label={isExpanded ? "Close" : "Open"}>
                {isExpanded ? "▾" : "▸"}
              </Button>
            ) : (
              <span className="chevron-space" />
            )}
            <span className="badge">{plain(evidence.ref.label)}</span>
            {!evidence.stands && <span className="badge status">no longer holds</span>}
            <Link className="link" href={link(to)}>
              <Line text={evidence.text} most={200} />
            </Link>
            <span className="muted small">
              <Time at={evidence.at} />
            </span>
          </span>
        )}
      </TreeItemContent>
      <Collection items={branch.children}>{(child) => <Piece branch={child} link={link} />}</Collection>
    </TreeItem>
  );
}
