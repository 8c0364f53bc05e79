// Written by scripts/schema from the schema and queries/operations.graphql (a36b4cec7a33f835).
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { Document as DocumentNode } from './document.js';
import { gql } from './document.js';
/** Where a candidate stands; `stored` ones became a memory without having waited. */
export type CandidateStatus =
  /** A person took it in. */
  | 'ACCEPTED'
  /** A person turned it down. */
  | 'REJECTED'
  /** It became a memory without having waited. */
  | 'STORED'
  /** A person has to look at it. */
  | 'WAITING';

/** How much speaks for a candidate: it happened, the evidence is strong, or only its use will tell. */
export type Certainty =
  /** It happened, and the evidence shows it. */
  | 'HIGH'
  /** Only its use will tell. */
  | 'LOW'
  /** The evidence is strong. */
  | 'MEDIUM';

/** What a shell can complete from a store. */
export type Completable =
  /** Names of memories. */
  | 'NAMES'
  /** Recipes of recall. */
  | 'RECIPES'
  /** Types of relationship. */
  | 'RELATIONS'
  /** Scopes. */
  | 'SCOPES'
  /** Sessions. */
  | 'SESSIONS';

/** Where a contradiction stands: open for a person, settled by rule, or resolved by a person. */
export type DisputeStatus =
  /** A person has to say which holds. */
  | 'OPEN'
  /** A person decided it. */
  | 'RESOLVED'
  /** A rule decided it. */
  | 'SETTLED';

/** What an acknowledged change survives. */
export type Durability =
  /** Whoever runs the server vouches for it. */
  | 'ENGINE'
  /** It is on the server's disk and on a standby's. */
  | 'QUORUM'
  /** It is on one machine's disk, and nowhere else. */
  | 'SINGLE'
  /** It may be lost with the machine: the server does not wait for its disk. */
  | 'UNSAFE';

/**
 * What was run. `other` is a task's own verify command that is none of the known tools.
 *
 * `person` is no command: somebody has looked, and says whether it holds.
 */
export type EvidenceKind =
  /** A build. */
  | 'BUILD'
  /** A commit that landed. */
  | 'COMMIT'
  /** A linter, formatter or type checker. */
  | 'LINT'
  /** The task's own command for its check, no known tool. */
  | 'OTHER'
  /** Somebody looked, and said whether it holds. */
  | 'PERSON'
  /** A commit that took another one back. */
  | 'REVERT'
  /** A test run. */
  | 'TEST';

/** How far the graph is walked from the first candidates. */
export type Expand =
  /** To what is one edge away. */
  | 'NEIGHBOURS'
  /** Not at all. */
  | 'NONE'
  /** By personalised PageRank from all of them. */
  | 'PAGERANK';

/** What the asker is after; boosts kinds, never filters. */
export type Intent =
  /** How to mend it: failures and patterns are favoured. */
  | 'DEBUG'
  /** How something is done: patterns and conventions are favoured. */
  | 'HOW'
  /** What is so: facts and decisions are favoured. */
  | 'WHAT'
  /** Why something fails: failures and what keeps failing are favoured. */
  | 'WHY';

/** Where a job stands. */
export type JobState =
  /** Somebody stopped it. */
  | 'CANCELLED'
  /** It is done. */
  | 'DONE'
  /** It ended with an error. */
  | 'FAILED'
  /** It is at work. */
  | 'RUNNING';

/** Kinds of memory. */
export type Kind =
  /** How things are done here. */
  | 'CONVENTION'
  /** What was decided, and why. */
  | 'DECISION'
  /** What a thing with a name is. */
  | 'ENTITY'
  /** How something changed: a move, a deprecation, a removal. */
  | 'EVOLUTION'
  /** Something that is so. */
  | 'FACT'
  /** Something went wrong, and what mends it, where that is known. */
  | 'FAILURE'
  /** A question that nothing here answers. */
  | 'GAP'
  /** Who somebody is. */
  | 'IDENTITY'
  /** A way of doing something that worked. */
  | 'PATTERN'
  /** What somebody likes better. */
  | 'PREFERENCE'
  /** What a project is about. */
  | 'PROJECT'
  /** A piece of code or a command to use again. */
  | 'SNIPPET'
  /** A failure that comes back on different changes. */
  | 'SYSTEMIC';

/** Labels of nodes. */
export type Label =
  /** What an agent's work gives to learn, before it is a memory. */
  | 'CANDIDATE'
  /** A thing that memories and episodes name: a file, a command, an error. */
  | 'ENTITY'
  /** Something that happened. */
  | 'EPISODE'
  /** What an explorer found out about an objective. */
  | 'EXPLORATION'
  /** Something that was learned. */
  | 'MEMORY'
  /** An objective and its tasks. */
  | 'PLAN'
  /** An insight that follows from others. */
  | 'REFLECTION'
  /** A session of an agent. */
  | 'SESSION'
  /** A piece of work with an outcome. */
  | 'TASK'
  /** One attempt at a task. */
  | 'WORKSPACE';

/** In which order memories are listed. LEAST_EFFECTIVE draws towards one half what has little feedback. */
export type MemoryOrder =
  /** Those first that helped least, by their feedback. */
  | 'LEAST_EFFECTIVE'
  /** Those first that were recalled most often. */
  | 'MOST_USED'
  /** By name. */
  | 'NAME'
  /** The newest first. */
  | 'NEWEST'
  /** The oldest first. */
  | 'OLDEST';

/** What of two contradicting memories stays. */
export type Outcome =
  /** Both hold. */
  | 'BOTH'
  /** The one that came later holds. */
  | 'FIRST'
  /** Neither holds. */
  | 'NEITHER'
  /** The one that was there before holds. */
  | 'SECOND';

/** Where a plan as a whole stands. */
export type Progress =
  /** Nothing was delivered, and something is blocked. */
  | 'ALL_BLOCKED'
  /** Every task is over. */
  | 'COMPLETE'
  /** Somebody works on it, or a task can begin. */
  | 'IN_PROGRESS'
  /** Tasks are left that can no longer begin. */
  | 'STUCK';

/** Types of relationship. The first block is open to `edge`, the second is written by Helix itself. */
export type Relation =
  /** The plan rests on that exploration. */
  | 'BASED_ON'
  /** The task can begin when the other is delivered. */
  | 'BLOCKED_BY'
  /** The first one causes the other. */
  | 'CAUSES'
  /** The insight rests on it. */
  | 'CITES'
  /** The two cannot both hold. */
  | 'CONTRADICTS'
  /** The two helped the same task. */
  | 'CO_OCCURS'
  /** The other one decided it. */
  | 'DECIDED_BY'
  /** The first one needs the other. */
  | 'DEPENDS_ON'
  /** The workspace is an attempt at that task. */
  | 'FOR_TASK'
  /** The memory rests on that episode. */
  | 'GROUNDED_IN'
  /** The plan has that task. */
  | 'HAS_TASK'
  /** The task was shown that memory. */
  | 'INJECTED'
  /** The episode belongs to that session. */
  | 'IN_SESSION'
  /** The task gave that memory to learn. */
  | 'LEARNED'
  /** It names that entity. */
  | 'MENTIONS'
  /** The other came next in the session. */
  | 'NEXT'
  /** The first one prefers the other. */
  | 'PREFERS'
  /** The task's work proposed that candidate. */
  | 'PROPOSED'
  /** The two have to do with each other; the edge says how. */
  | 'RELATED'
  /** The two say nearly the same. */
  | 'SIMILAR'
  /** The first one solves the other. */
  | 'SOLVES'
  /** The first one stands in the place of the other. */
  | 'SUPERSEDES'
  /** It is about that file or command. */
  | 'TOUCHES'
  /** That memory was held back from the task. */
  | 'WITHHELD'
  /** The first one works on the other. */
  | 'WORKS_ON';

/** Where a memory stands. Only `active` is recalled by default; `archived` with `deep`. */
export type Status =
  /** It is recalled. */
  | 'ACTIVE'
  /** It has faded, and is recalled with `deep` alone. */
  | 'ARCHIVED'
  /** A person took it out of recall; it can be restored. */
  | 'FORGOTTEN'
  /** It waits for a person, and is not recalled. */
  | 'QUARANTINED'
  /** A newer version stands in its place, or it no longer holds. */
  | 'RETIRED';

/** What a store came to: a new memory, a count on an existing one, a new version of it, or one quarantined. */
export type StoreStatus =
  /** It is a new memory. */
  | 'ADDED'
  /** One that says the same was there, and counts one more. */
  | 'MERGED'
  /** It waits for a person. */
  | 'QUARANTINED'
  /** It is a new version of one that was there. */
  | 'UPDATED';

/**
 * Which time counts: when the store learned of something, or when it happened or began to hold in the world.
 *
 * Of what says nothing of the world's time, the one stands for the other.
 */
export type TimeKind =
  /** When it happened, or began to hold. */
  | 'HAPPENED'
  /** When the store learned of it. */
  | 'RECORDED';

/** Provenance classes, strongest first; anything derived is bounded by its weakest source. */
export type Trust =
  /** An agent said it. */
  | 'AGENT_INFERRED'
  /** A tool, a commit or a file of a repository said it. */
  | 'TOOL_OUTPUT'
  /** A person said it. */
  | 'USER_ASSERTED'
  /** A check showed it: a test, a build, a commit. */
  | 'VERIFIED_OUTCOME'
  /** It comes from the web, or from elsewhere that nobody vouches for. */
  | 'WEB';

/** What all the evidence of a task comes to. */
export type Verification =
  /** The evidence says that it does not. */
  | 'FAILED'
  /** There is no evidence. */
  | 'NONE'
  /** The evidence says that the work holds. */
  | 'PASSED';

/** Where a piece of work stands. */
export type WorkState =
  /** It is done. */
  | 'DONE'
  /** It was tried as often as may be, and failed. */
  | 'FAILED'
  /** It waits for its turn. */
  | 'QUEUED'
  /** It is at work. */
  | 'RUNNING';

export type BackgroundQueryVariables = Exact<{
  limit?: number | null | undefined;
}>;


export type BackgroundQuery = { background: BackgroundStatusFragment | null };

export type WorkQueryVariables = Exact<{
  id: string;
}>;


export type WorkQuery = { work: WorkItemFragment | null };

export type WorkPlanQueryVariables = Exact<{
  kind: string;
  payload?: unknown;
}>;


export type WorkPlanQuery = { workPlan: WorkPlanFragment | null };

export type EpisodesQueryVariables = Exact<{
  scope?: string | null | undefined;
  session?: string | null | undefined;
  since?: string | null | undefined;
  until?: string | null | undefined;
  time?: TimeKind | null | undefined;
  oldestFirst?: boolean | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type EpisodesQuery = { episodes: EpisodeConnectionFragment | null };

export type SessionsQueryVariables = Exact<{
  scope?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  name?: string | null | undefined;
  since?: string | null | undefined;
  until?: string | null | undefined;
}>;


export type SessionsQuery = { sessions: SessionReportConnectionFragment | null };

export type ExplorerContextQueryVariables = Exact<{
  objective: string;
  focus?: string | null | undefined;
  scope?: string | null | undefined;
  limit?: number | null | undefined;
  session?: string | null | undefined;
}>;


export type ExplorerContextQuery = { explorerContext: ExplorerContextFragment | null };

export type PlannerContextQueryVariables = Exact<{
  objective: string;
  scope?: string | null | undefined;
  limit?: number | null | undefined;
  session?: string | null | undefined;
}>;


export type PlannerContextQuery = { plannerContext: PlannerContextFragment | null };

export type BuilderContextQueryVariables = Exact<{
  objective: string;
  task?: string | null | undefined;
  files?: Array<string> | string | null | undefined;
  lineage?: Array<unknown> | unknown | null | undefined;
  warning?: string | null | undefined;
  limit?: number | null | undefined;
  scope?: string | null | undefined;
  session?: string | null | undefined;
  noInject?: boolean | null | undefined;
}>;


export type BuilderContextQuery = { builderContext: BuilderContextFragment | null };

export type LineageQueryVariables = Exact<{
  tasks?: Array<unknown> | unknown | null | undefined;
  plan?: string | null | undefined;
  scope?: string | null | undefined;
}>;


export type LineageQuery = { lineage: Array<DeliveryFragment> | null };

export type BriefQueryVariables = Exact<{
  scope?: string | null | undefined;
  budgetTokens?: number | null | undefined;
  without?: Array<string> | string | null | undefined;
}>;


export type BriefQuery = { brief: BriefFragment | null };

export type AtActionQueryVariables = Exact<{
  command?: string | null | undefined;
  files?: Array<string> | string | null | undefined;
  output?: string | null | undefined;
  folder?: string | null | undefined;
  project?: string | null | undefined;
  scope?: string | null | undefined;
  limit?: number | null | undefined;
}>;


export type AtActionQuery = { atAction: ActionContextFragment | null };

export type ErasePlanQueryVariables = Exact<{
  nameOrId: string;
}>;


export type ErasePlanQuery = { erasePlan: ErasePlanFragment | null };

export type CypherQueryVariables = Exact<{
  query: string;
  params?: unknown;
  timeoutMs?: number | null | undefined;
  limit?: number | null | undefined;
}>;


export type CypherQuery = { cypher: CypherResultFragment | null };

export type GraphSchemaQueryVariables = Exact<{ [key: string]: never; }>;


export type GraphSchemaQuery = { graphSchema: Array<GraphTableFragment> | null };

export type NeighbourhoodQueryVariables = Exact<{
  nameOrId: string;
  steps?: number | null | undefined;
  scope?: string | null | undefined;
  limit?: number | null | undefined;
}>;


export type NeighbourhoodQuery = { neighbourhood: NeighbourhoodFragment | null };

export type FindQueryVariables = Exact<{
  text: string;
  labels?: Array<Label> | Label | null | undefined;
  limit?: number | null | undefined;
}>;


export type FindQuery = { find: Array<GraphNodeFragment> | null };

export type WalkQueryVariables = Exact<{
  query: string;
  scope?: string | null | undefined;
  limit?: number | null | undefined;
}>;


export type WalkQuery = { walk: WalkFragment | null };

export type PathQueryVariables = Exact<{
  source: string;
  target: string;
  scope?: string | null | undefined;
}>;


export type PathQuery = { path: GraphPathFragment | null };

export type CommunitiesQueryVariables = Exact<{
  scope?: string | null | undefined;
  least?: number | null | undefined;
  limit?: number | null | undefined;
}>;


export type CommunitiesQuery = { communities: Array<CommunityFragment> | null };

export type GraphOverviewQueryVariables = Exact<{
  scope?: string | null | undefined;
  limit?: number | null | undefined;
}>;


export type GraphOverviewQuery = { graphOverview: GraphOverviewFragment | null };

export type CommunityQueryVariables = Exact<{
  id: string;
  scope?: string | null | undefined;
  limit?: number | null | undefined;
}>;


export type CommunityQuery = { community: CommunityInsideFragment | null };

export type CentralityQueryVariables = Exact<{
  scope?: string | null | undefined;
  labels?: Array<Label> | Label | null | undefined;
  limit?: number | null | undefined;
}>;


export type CentralityQuery = { centrality: Array<CentralNodeFragment> | null };

export type LearningQueueQueryVariables = Exact<{
  scope?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type LearningQueueQuery = { learningQueue: CandidateConnectionFragment | null };

export type VerifyQueryVariables = Exact<{
  scope?: string | null | undefined;
}>;


export type VerifyQuery = { verify: LoopHealthFragment | null };

export type ReportQueryVariables = Exact<{
  since?: string | null | undefined;
  scope?: string | null | undefined;
}>;


export type ReportQuery = { report: ReportFragment | null };

export type EffectQueryVariables = Exact<{
  nameOrId: string;
}>;


export type EffectQuery = { effect: MemoryEffectFragment | null };

export type ShowingsQueryVariables = Exact<{
  nameOrId?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  session?: string | null | undefined;
  scope?: string | null | undefined;
}>;


export type ShowingsQuery = { showings: ShowingConnectionFragment | null };

export type ReportPageQueryVariables = Exact<{
  since?: string | null | undefined;
  scope?: string | null | undefined;
}>;


export type ReportPageQuery = { reportPage: string | null };

export type ExplorationQueryVariables = Exact<{
  id?: string | null | undefined;
  scope?: string | null | undefined;
}>;


export type ExplorationQuery = { exploration: ExplorationFragment | null };

export type PlanQueryVariables = Exact<{
  id?: string | null | undefined;
  scope?: string | null | undefined;
}>;


export type PlanQuery = { plan: PlanReportFragment | null };

export type PlansQueryVariables = Exact<{
  scope?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type PlansQuery = { plans: PlanConnectionFragment | null };

export type TaskQueryVariables = Exact<{
  id: string;
}>;


export type TaskQuery = { task: TaskReportFragment | null };

export type ReadyTasksQueryVariables = Exact<{
  plan?: string | null | undefined;
  scope?: string | null | undefined;
}>;


export type ReadyTasksQuery = { readyTasks: Array<PlanTaskFragment> | null };

export type CascadeStatusQueryVariables = Exact<{
  plan?: string | null | undefined;
  scope?: string | null | undefined;
}>;


export type CascadeStatusQuery = { cascadeStatus: CascadeFragment | null };

export type WorkspacesQueryVariables = Exact<{
  plan?: string | null | undefined;
  scope?: string | null | undefined;
  status?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type WorkspacesQuery = { workspaces: WorkspaceReportConnectionFragment | null };

export type TaskStateQueryVariables = Exact<{
  task: unknown;
  others?: Array<unknown> | unknown | null | undefined;
}>;


export type TaskStateQuery = { taskState: TaskStateFragment | null };

export type DagCyclesQueryVariables = Exact<{
  dependencies: unknown;
}>;


export type DagCyclesQuery = { dagCycles: Array<Array<string>> | null };

export type DagReadyQueryVariables = Exact<{
  tasks?: Array<unknown> | unknown | null | undefined;
  plan?: string | null | undefined;
  scope?: string | null | undefined;
}>;


export type DagReadyQuery = { dagReady: Array<string> | null };

export type DagStalledQueryVariables = Exact<{
  tasks?: Array<unknown> | unknown | null | undefined;
  plan?: string | null | undefined;
  scope?: string | null | undefined;
}>;


export type DagStalledQuery = { dagStalled: StalledFragment | null };

export type GetQueryVariables = Exact<{
  nameOrId: string;
}>;


export type GetQuery = { get: MemoryFragment | null };

export type HistoryQueryVariables = Exact<{
  nameOrId: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type HistoryQuery = { history: VersionConnectionFragment | null };

export type NodeQueryVariables = Exact<{
  id: string;
  label?: Label | null | undefined;
}>;


export type NodeQuery = { node:
    | Node_Candidate_Fragment
    | Node_Entity_Fragment
    | Node_Episode_Fragment
    | Node_Exploration_Fragment
    | Node_Memory_Fragment
    | Node_Plan_Fragment
    | Node_Reflection_Fragment
    | Node_Session_Fragment
    | Node_Task_Fragment
    | Node_Workspace_Fragment
   | null };

export type NodesQueryVariables = Exact<{
  ids: Array<string> | string;
}>;


export type NodesQuery = { nodes: Array<
    | Node_Candidate_Fragment
    | Node_Entity_Fragment
    | Node_Episode_Fragment
    | Node_Exploration_Fragment
    | Node_Memory_Fragment
    | Node_Plan_Fragment
    | Node_Reflection_Fragment
    | Node_Session_Fragment
    | Node_Task_Fragment
    | Node_Workspace_Fragment
   | null> | null };

export type MemoriesQueryVariables = Exact<{
  scope?: string | null | undefined;
  kinds?: Array<Kind> | Kind | null | undefined;
  status?: Array<Status> | Status | null | undefined;
  anyStatus?: boolean | null | undefined;
  trust?: Array<Trust> | Trust | null | undefined;
  since?: string | null | undefined;
  until?: string | null | undefined;
  time?: TimeKind | null | undefined;
  text?: string | null | undefined;
  order?: MemoryOrder | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type MemoriesQuery = { memories: MemoryConnectionFragment | null };

export type FacetsQueryVariables = Exact<{
  scope?: string | null | undefined;
  kinds?: Array<Kind> | Kind | null | undefined;
  status?: Array<Status> | Status | null | undefined;
  anyStatus?: boolean | null | undefined;
  trust?: Array<Trust> | Trust | null | undefined;
  since?: string | null | undefined;
  until?: string | null | undefined;
  time?: TimeKind | null | undefined;
  text?: string | null | undefined;
}>;


export type FacetsQuery = { facets: FacetsFragment | null };

export type SimilarRecentQueryVariables = Exact<{
  trigger: string;
  threshold?: number | null | undefined;
  days?: number | null | undefined;
  kind?: Kind | null | undefined;
  scope?: string | null | undefined;
  limit?: number | null | undefined;
}>;


export type SimilarRecentQuery = { similarRecent: Array<SimilarMemoryFragment> | null };

export type EdgesQueryVariables = Exact<{
  nameOrId?: string | null | undefined;
  relation?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type EdgesQuery = { edges: EdgeConnectionFragment | null };

export type SuggestEdgesQueryVariables = Exact<{
  nameOrId: string;
  limit?: number | null | undefined;
}>;


export type SuggestEdgesQuery = { suggestEdges: Array<EdgeSuggestionFragment> | null };

export type RecallQueryVariables = Exact<{
  query: string;
  scope?: string | null | undefined;
  kinds?: Array<Kind> | Kind | null | undefined;
  labels?: Array<Label> | Label | null | undefined;
  trust?: Array<Trust> | Trust | null | undefined;
  status?: Array<Status> | Status | null | undefined;
  limit?: number | null | undefined;
  intent?: Intent | null | undefined;
  expand?: Expand | null | undefined;
  files?: Array<string> | string | null | undefined;
  asOf?: string | null | undefined;
  knownAt?: string | null | undefined;
  askedAt?: string | null | undefined;
  since?: string | null | undefined;
  until?: string | null | undefined;
  time?: TimeKind | null | undefined;
  budgetTokens?: number | null | undefined;
  recipe?: string | null | undefined;
  rerank?: boolean | null | undefined;
  deep?: boolean | null | undefined;
  everything?: boolean | null | undefined;
  explain?: boolean | null | undefined;
  session?: string | null | undefined;
}>;


export type RecallQuery = { recall: RecallAnswerFragment | null };

export type RecallByTypeQueryVariables = Exact<{
  query: string;
  kinds?: Array<Kind> | Kind | null | undefined;
  limit?: number | null | undefined;
  scope?: string | null | undefined;
}>;


export type RecallByTypeQuery = { recallByType: Array<KindAnswerFragment> | null };

export type CompletionsQueryVariables = Exact<{
  of: Completable;
  prefix?: string | null | undefined;
  limit?: number | null | undefined;
}>;


export type CompletionsQuery = { completions: Array<string> | null };

export type LastQueryVariables = Exact<{
  session?: string | null | undefined;
}>;


export type LastQuery = { last: RecallAnswerFragment | null };

export type WhyQueryVariables = Exact<{
  nameOrId: string;
  session?: string | null | undefined;
}>;


export type WhyQuery = { why: RecallItemFragment | null };

export type ContradictionsQueryVariables = Exact<{
  scope?: string | null | undefined;
  status?: DisputeStatus | null | undefined;
  anyStatus?: boolean | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ContradictionsQuery = { contradictions: DisputeConnectionFragment | null };

export type InboxQueryVariables = Exact<{
  scope?: string | null | undefined;
}>;


export type InboxQuery = { inbox: InboxFragment | null };

export type DuplicatesQueryVariables = Exact<{
  scope?: string | null | undefined;
  threshold?: number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type DuplicatesQuery = { duplicates: DuplicateConnectionFragment | null };

export type ReviewQueryVariables = Exact<{
  scope?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ReviewQuery = { review: HeldConnectionFragment | null };

export type ReflectionsQueryVariables = Exact<{
  scope?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ReflectionsQuery = { reflections: ReflectionConnectionFragment | null };

export type InsightTreeQueryVariables = Exact<{
  id: string;
}>;


export type InsightTreeQuery = { insightTree: InsightFragment | null };

export type KeysQueryVariables = Exact<{ [key: string]: never; }>;


export type KeysQuery = { keys: Array<StrandKeyFragment> | null };

export type SharesQueryVariables = Exact<{ [key: string]: never; }>;


export type SharesQuery = { shares: Array<MemoryShareFragment> | null };

export type InspectStrandQueryVariables = Exact<{
  path: string;
  verify?: boolean | null | undefined;
}>;


export type InspectStrandQuery = { inspectStrand: StrandInfoFragment | null };

export type StrandLogQueryVariables = Exact<{
  limit?: number | null | undefined;
}>;


export type StrandLogQuery = { strandLog: Array<StrandVersionFragment> | null };

export type SyncedPlacesQueryVariables = Exact<{ [key: string]: never; }>;


export type SyncedPlacesQuery = { syncedPlaces: Array<SyncedPlaceFragment> | null };

export type HealthQueryVariables = Exact<{ [key: string]: never; }>;


export type HealthQuery = { health: HealthFragment | null };

export type StatsQueryVariables = Exact<{
  scope?: string | null | undefined;
}>;


export type StatsQuery = { stats: StatsFragment | null };

export type StatusQueryVariables = Exact<{ [key: string]: never; }>;


export type StatusQuery = { status: StatusReportFragment | null };

export type DoctorQueryVariables = Exact<{ [key: string]: never; }>;


export type DoctorQuery = { doctor: DoctorReportFragment | null };

export type ConfigQueryVariables = Exact<{ [key: string]: never; }>;


export type ConfigQuery = { config: Array<SettingFragment> | null };

export type AgentsQueryVariables = Exact<{
  project?: string | null | undefined;
}>;


export type AgentsQuery = { agents: Array<AgentConnectionFragment> | null };

export type LogsQueryVariables = Exact<{
  lines?: number | null | undefined;
}>;


export type LogsQuery = { logs: Array<LogLineFragment> | null };

export type JobQueryVariables = Exact<{
  id: string;
}>;


export type JobQuery = { job: JobFragment | null };

export type JobsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type JobsQuery = { jobs: JobConnectionFragment | null };

export type FlushMutationVariables = Exact<{
  scope?: string | null | undefined;
}>;


export type FlushMutation = { flush: { result: WorkItemFragment } | null };

export type BeginWorkMutationVariables = Exact<{
  kind: string;
  payload?: unknown;
}>;


export type BeginWorkMutation = { beginWork: { result: WorkItemFragment } | null };

export type CancelWorkMutationVariables = Exact<{
  id: string;
}>;


export type CancelWorkMutation = { cancelWork: { result: WorkItemFragment } | null };

export type PauseWorkerMutationVariables = Exact<{
  on?: boolean | null | undefined;
}>;


export type PauseWorkerMutation = { pauseWorker: { result: boolean } | null };

export type UndoMutationVariables = Exact<{
  job: string;
  dryRun?: boolean | null | undefined;
}>;


export type UndoMutation = { undo: { result: UndoReportFragment } | null };

export type RecordEpisodeMutationVariables = Exact<{
  content: string;
  session?: string | null | undefined;
  scope?: string | null | undefined;
  agent?: string | null | undefined;
  role?: string | null | undefined;
  occurredAt?: string | null | undefined;
  source?: string | null | undefined;
  importance?: number | null | undefined;
  trust?: Trust | null | undefined;
  files?: Array<string> | string | null | undefined;
  project?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type RecordEpisodeMutation = { recordEpisode: { result: RecordingFragment } | null };

export type OpenSessionMutationVariables = Exact<{
  name?: string | null | undefined;
  scope?: string | null | undefined;
  agent?: string | null | undefined;
  private?: boolean | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type OpenSessionMutation = { openSession: { result: SessionReportFragment } | null };

export type CloseSessionMutationVariables = Exact<{
  name: string;
  scope?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type CloseSessionMutation = { closeSession: { result: SessionReportFragment } | null };

export type PauseMutationVariables = Exact<{
  on?: boolean | null | undefined;
}>;


export type PauseMutation = { pause: { result: boolean } | null };

export type HardForgetMutationVariables = Exact<{
  nameOrId: string;
  confirm: string;
}>;


export type HardForgetMutation = { hardForget: { result: JobFragment } | null };

export type ScanSecretsMutationVariables = Exact<{
  apply?: boolean | null | undefined;
}>;


export type ScanSecretsMutation = { scanSecrets: { result: JobFragment } | null };

export type ExportJsonlMutationVariables = Exact<{
  path: string;
}>;


export type ExportJsonlMutation = { exportJsonl: { result: JobFragment } | null };

export type ExportGraphmlMutationVariables = Exact<{
  path: string;
}>;


export type ExportGraphmlMutation = { exportGraphml: { result: JobFragment } | null };

export type ExportMarkdownMutationVariables = Exact<{
  path: string;
}>;


export type ExportMarkdownMutation = { exportMarkdown: { result: JobFragment } | null };

export type IngestGitMutationVariables = Exact<{
  path: string;
  scope?: string | null | undefined;
  limit?: number | null | undefined;
}>;


export type IngestGitMutation = { ingestGit: { result: JobFragment } | null };

export type IngestNotesMutationVariables = Exact<{
  paths: Array<string> | string;
  scope?: string | null | undefined;
  mine?: boolean | null | undefined;
}>;


export type IngestNotesMutation = { ingestNotes: { result: JobFragment } | null };

export type IngestTranscriptMutationVariables = Exact<{
  path: string;
  scope?: string | null | undefined;
  agent?: string | null | undefined;
}>;


export type IngestTranscriptMutation = { ingestTranscript: { result: JobFragment } | null };

export type IngestJsonlMutationVariables = Exact<{
  lines: Array<string> | string;
  firstLine?: number | null | undefined;
  scope?: string | null | undefined;
  source?: string | null | undefined;
  agent?: string | null | undefined;
}>;


export type IngestJsonlMutation = { ingestJsonl: { result: IngestReportFragment } | null };

export type IngestBulkMutationVariables = Exact<{
  path: string;
  vectors?: string | null | undefined;
  scope?: string | null | undefined;
  source?: string | null | undefined;
  agent?: string | null | undefined;
}>;


export type IngestBulkMutation = { ingestBulk: { result: JobFragment } | null };

export type ImportMemoriesMutationVariables = Exact<{
  path: string;
  source?: string | null | undefined;
  scope?: string | null | undefined;
  plan?: boolean | null | undefined;
  mine?: boolean | null | undefined;
  agent?: string | null | undefined;
}>;


export type ImportMemoriesMutation = { importMemories: { result: JobFragment } | null };

export type ObserveExplorerMutationVariables = Exact<{
  store?: boolean | null | undefined;
  queue?: boolean | null | undefined;
  minConfidence?: Certainty | null | undefined;
  scope?: string | null | undefined;
  session?: string | null | undefined;
  taskId?: string | null | undefined;
  agent?: string | null | undefined;
  source?: string | null | undefined;
  output: string;
}>;


export type ObserveExplorerMutation = { observeExplorer: { result: ObservedFragment } | null };

export type ObservePlannerMutationVariables = Exact<{
  store?: boolean | null | undefined;
  queue?: boolean | null | undefined;
  minConfidence?: Certainty | null | undefined;
  scope?: string | null | undefined;
  session?: string | null | undefined;
  taskId?: string | null | undefined;
  agent?: string | null | undefined;
  source?: string | null | undefined;
  tasks: Array<unknown> | unknown;
  exploration?: unknown;
  learned?: Array<string> | string | null | undefined;
}>;


export type ObservePlannerMutation = { observePlanner: { result: ObservedFragment } | null };

export type ObserveBuilderMutationVariables = Exact<{
  store?: boolean | null | undefined;
  queue?: boolean | null | undefined;
  minConfidence?: Certainty | null | undefined;
  scope?: string | null | undefined;
  session?: string | null | undefined;
  taskId?: string | null | undefined;
  agent?: string | null | undefined;
  source?: string | null | undefined;
  task: unknown;
  result?: string | null | undefined;
  filesChanged?: Array<string> | string | null | undefined;
}>;


export type ObserveBuilderMutation = { observeBuilder: { result: ObservedFragment } | null };

export type ObserveSessionMutationVariables = Exact<{
  store?: boolean | null | undefined;
  queue?: boolean | null | undefined;
  minConfidence?: Certainty | null | undefined;
  scope?: string | null | undefined;
  session?: string | null | undefined;
  taskId?: string | null | undefined;
  agent?: string | null | undefined;
  source?: string | null | undefined;
  objective: string;
  tasks?: Array<unknown> | unknown | null | undefined;
  outcomes?: unknown;
}>;


export type ObserveSessionMutation = { observeSession: { result: ObservedFragment } | null };

export type AcceptCandidateMutationVariables = Exact<{
  id: string;
  by?: string | null | undefined;
}>;


export type AcceptCandidateMutation = { acceptCandidate: { result: AcceptedFragment } | null };

export type RejectCandidateMutationVariables = Exact<{
  id: string;
  by?: string | null | undefined;
}>;


export type RejectCandidateMutation = { rejectCandidate: { result: CandidateFragment } | null };

export type ReopenCandidateMutationVariables = Exact<{
  id: string;
}>;


export type ReopenCandidateMutation = { reopenCandidate: { result: CandidateFragment } | null };

export type ChunkMutationVariables = Exact<{
  task: string;
  outcome: string;
  approach: string;
  scope?: string | null | undefined;
  taskId?: string | null | undefined;
  agent?: string | null | undefined;
  source?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type ChunkMutation = { chunk: { result: StoreResultFragment | null } | null };

export type SaveExplorationMutationVariables = Exact<{
  answer: string;
  objective?: string | null | undefined;
  scope?: string | null | undefined;
  session?: string | null | undefined;
}>;


export type SaveExplorationMutation = { saveExploration: { result: ExplorationReportFragment } | null };

export type SavePlanMutationVariables = Exact<{
  answer: string;
  objective?: string | null | undefined;
  scope?: string | null | undefined;
  session?: string | null | undefined;
  exploration?: string | null | undefined;
}>;


export type SavePlanMutation = { savePlan: { result: PlanReportFragment } | null };

export type CompletePlanMutationVariables = Exact<{
  plan?: string | null | undefined;
  scope?: string | null | undefined;
}>;


export type CompletePlanMutation = { completePlan: { result: PlanReportFragment } | null };

export type CreateWorkspaceMutationVariables = Exact<{
  task: string;
  plan?: string | null | undefined;
  scope?: string | null | undefined;
  warning?: string | null | undefined;
  limit?: number | null | undefined;
}>;


export type CreateWorkspaceMutation = { createWorkspace: { result: WorkspaceReportFragment } | null };

export type CompleteWorkspaceMutationVariables = Exact<{
  id: string;
  delivered: string;
  utilized?: Array<string> | string | null | undefined;
}>;


export type CompleteWorkspaceMutation = { completeWorkspace: { result: WorkspaceReportFragment } | null };

export type BlockWorkspaceMutationVariables = Exact<{
  id: string;
  reason: string;
  tried?: string | null | undefined;
  error?: string | null | undefined;
  utilized?: Array<string> | string | null | undefined;
}>;


export type BlockWorkspaceMutation = { blockWorkspace: { result: WorkspaceReportFragment } | null };

export type DagClearMutationVariables = Exact<{
  tasks?: Array<unknown> | unknown | null | undefined;
  plan?: string | null | undefined;
  scope?: string | null | undefined;
  session?: string | null | undefined;
  force?: boolean | null | undefined;
}>;


export type DagClearMutation = { dagClear: { result: ClearedFragment } | null };

export type TaskOutcomeMutationVariables = Exact<{
  task: string;
  outcome: string;
  claimed?: boolean | null | undefined;
  utilized?: Array<string> | string | null | undefined;
  agent?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type TaskOutcomeMutation = { taskOutcome: { result: TaskOutcomeFragment } | null };

export type NoteActionMutationVariables = Exact<{
  task: string;
  command?: string | null | undefined;
  files?: Array<string> | string | null | undefined;
  exitStatus?: number | null | undefined;
  output?: string | null | undefined;
  id?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type NoteActionMutation = { noteAction: { result: CheckFragment | null } | null };

export type StoreMutationVariables = Exact<{
  trigger: string;
  resolution: string;
  kind: Kind;
  scope?: string | null | undefined;
  name?: string | null | undefined;
  confidence?: number | null | undefined;
  importance?: number | null | undefined;
  files?: Array<string> | string | null | undefined;
  trust?: Trust | null | undefined;
  source?: string | null | undefined;
  agent?: string | null | undefined;
  session?: string | null | undefined;
  validFrom?: string | null | undefined;
  validTo?: string | null | undefined;
  attributes?: unknown;
  idempotencyKey?: string | null | undefined;
}>;


export type StoreMutation = { store: { result: StoreResultFragment } | null };

export type EditMutationVariables = Exact<{
  nameOrId: string;
  trigger?: string | null | undefined;
  resolution?: string | null | undefined;
  kind?: Kind | null | undefined;
  name?: string | null | undefined;
  scope?: string | null | undefined;
  confidence?: number | null | undefined;
  importance?: number | null | undefined;
  validFrom?: string | null | undefined;
  validTo?: string | null | undefined;
  agent?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type EditMutation = { edit: { result: MemoryFragment } | null };

export type ForgetMutationVariables = Exact<{
  nameOrId: string;
  idempotencyKey?: string | null | undefined;
}>;


export type ForgetMutation = { forget: { result: MemoryFragment } | null };

export type RestoreMutationVariables = Exact<{
  nameOrId: string;
  idempotencyKey?: string | null | undefined;
}>;


export type RestoreMutation = { restore: { result: MemoryFragment } | null };

export type ConfirmMutationVariables = Exact<{
  nameOrId: string;
  idempotencyKey?: string | null | undefined;
}>;


export type ConfirmMutation = { confirm: { result: MemoryFragment } | null };

export type RevertMutationVariables = Exact<{
  nameOrId: string;
}>;


export type RevertMutation = { revert: { result: MemoryFragment } | null };

export type UnmergeMutationVariables = Exact<{
  nameOrId: string;
}>;


export type UnmergeMutation = { unmerge: { result: MemoryFragment } | null };

export type EdgeMutationVariables = Exact<{
  source: string;
  target: string;
  relation: string;
  weight?: number | null | undefined;
  agent?: string | null | undefined;
  undo?: boolean | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type EdgeMutation = { edge: { result: EdgeFragment } | null };

export type FeedbackMutationVariables = Exact<{
  names: Array<string> | string;
  delta?: number | null | undefined;
  quality?: number | null | undefined;
  task?: string | null | undefined;
  agent?: string | null | undefined;
  undo?: boolean | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type FeedbackMutation = { feedback: { result: Array<MemoryFragment> } | null };

export type DecayMutationVariables = Exact<{
  unusedDays?: number | null | undefined;
  minUses?: number | null | undefined;
  dryRun?: boolean | null | undefined;
}>;


export type DecayMutation = { decay: { result: MaintenanceReportFragment } | null };

export type DecayEdgesMutationVariables = Exact<{
  unusedDays?: number | null | undefined;
  dryRun?: boolean | null | undefined;
}>;


export type DecayEdgesMutation = { decayEdges: { result: MaintenanceReportFragment } | null };

export type PruneMutationVariables = Exact<{
  minEffectiveness?: number | null | undefined;
  minUses?: number | null | undefined;
  dryRun?: boolean | null | undefined;
}>;


export type PruneMutation = { prune: { result: MaintenanceReportFragment } | null };

export type ResolveContradictionMutationVariables = Exact<{
  a: string;
  b: string;
  winner: string;
  note?: string | null | undefined;
}>;


export type ResolveContradictionMutation = { resolveContradiction: { result: DisputeFragment } | null };

export type ReopenContradictionMutationVariables = Exact<{
  a: string;
  b: string;
}>;


export type ReopenContradictionMutation = { reopenContradiction: { result: DisputeFragment } | null };

export type SettleDuplicateMutationVariables = Exact<{
  a: string;
  b: string;
  winner: string;
}>;


export type SettleDuplicateMutation = { settleDuplicate: { result: MemoryFragment } | null };

export type ReopenDuplicateMutationVariables = Exact<{
  a: string;
  b: string;
}>;


export type ReopenDuplicateMutation = { reopenDuplicate: { result: MemoryFragment } | null };

export type NoteGapMutationVariables = Exact<{
  session?: string | null | undefined;
  agent?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type NoteGapMutation = { noteGap: { result: StoreResultFragment | null } | null };

export type ReopenGapMutationVariables = Exact<{
  nameOrId: string;
}>;


export type ReopenGapMutation = { reopenGap: { result: MemoryFragment } | null };

export type AcceptMutationVariables = Exact<{
  nameOrId: string;
  by?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type AcceptMutation = { accept: { result:
      | Node_Candidate_Fragment
      | Node_Entity_Fragment
      | Node_Episode_Fragment
      | Node_Exploration_Fragment
      | Node_Memory_Fragment
      | Node_Plan_Fragment
      | Node_Reflection_Fragment
      | Node_Session_Fragment
      | Node_Task_Fragment
      | Node_Workspace_Fragment
     } | null };

export type RejectMutationVariables = Exact<{
  nameOrId: string;
  by?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type RejectMutation = { reject: { result:
      | Node_Candidate_Fragment
      | Node_Entity_Fragment
      | Node_Episode_Fragment
      | Node_Exploration_Fragment
      | Node_Memory_Fragment
      | Node_Plan_Fragment
      | Node_Reflection_Fragment
      | Node_Session_Fragment
      | Node_Task_Fragment
      | Node_Workspace_Fragment
     } | null };

export type HoldMutationVariables = Exact<{
  nameOrId: string;
  by?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type HoldMutation = { hold: { result:
      | Node_Candidate_Fragment
      | Node_Entity_Fragment
      | Node_Episode_Fragment
      | Node_Exploration_Fragment
      | Node_Memory_Fragment
      | Node_Plan_Fragment
      | Node_Reflection_Fragment
      | Node_Session_Fragment
      | Node_Task_Fragment
      | Node_Workspace_Fragment
     } | null };

export type NewKeyMutationVariables = Exact<{
  name: string;
}>;


export type NewKeyMutation = { newKey: { result: StrandKeyFragment } | null };

export type ImportKeyMutationVariables = Exact<{
  name: string;
  public: string;
}>;


export type ImportKeyMutation = { importKey: { result: StrandKeyFragment } | null };

export type TrustKeyMutationVariables = Exact<{
  name: string;
  trust: Trust;
}>;


export type TrustKeyMutation = { trustKey: { result: StrandKeyFragment } | null };

export type RevokeKeyMutationVariables = Exact<{
  name: string;
}>;


export type RevokeKeyMutation = { revokeKey: { result: StrandKeyFragment } | null };

export type NewShareMutationVariables = Exact<{
  key: string;
  scopes: Array<string> | string;
  name?: string | null | undefined;
  write?: boolean | null | undefined;
}>;


export type NewShareMutation = { newShare: { result: MemoryShareFragment } | null };

export type RevokeShareMutationVariables = Exact<{
  name: string;
}>;


export type RevokeShareMutation = { revokeShare: { result: MemoryShareFragment } | null };

export type ExportStrandMutationVariables = Exact<{
  path: string;
  scopes?: Array<string> | string | null | undefined;
  query?: string | null | undefined;
  since?: string | null | undefined;
  history?: string | null | undefined;
  withVectors?: boolean | null | undefined;
  passphrase?: string | null | undefined;
  recipients?: Array<string> | string | null | undefined;
  key?: string | null | undefined;
  why?: string | null | undefined;
  tag?: string | null | undefined;
}>;


export type ExportStrandMutation = { exportStrand: { result: JobFragment } | null };

export type ImportStrandMutationVariables = Exact<{
  path: string;
  passphrase?: string | null | undefined;
  plan?: boolean | null | undefined;
}>;


export type ImportStrandMutation = { importStrand: { result: JobFragment } | null };

export type CloneStrandMutationVariables = Exact<{
  path: string;
  to: string;
  passphrase?: string | null | undefined;
}>;


export type CloneStrandMutation = { cloneStrand: { result: JobFragment } | null };

export type DiffStrandsMutationVariables = Exact<{
  path: string;
  other?: string | null | undefined;
  passphrase?: string | null | undefined;
}>;


export type DiffStrandsMutation = { diffStrands: { result: StrandDifferenceFragment } | null };

export type RollBackToMutationVariables = Exact<{
  version: string;
}>;


export type RollBackToMutation = { rollBackTo: { result: JobFragment } | null };

export type TagVersionMutationVariables = Exact<{
  version: string;
  tag: string;
  move?: boolean | null | undefined;
}>;


export type TagVersionMutation = { tagVersion: { result: Array<StrandVersionFragment> } | null };

export type SyncMutationVariables = Exact<{
  place: string;
  passphrase?: string | null | undefined;
  key?: string | null | undefined;
  scopes?: Array<string> | string | null | undefined;
  token?: string | null | undefined;
}>;


export type SyncMutation = { sync: { result: JobFragment } | null };

export type WatchSyncMutationVariables = Exact<{
  place: string;
  minutes?: number | null | undefined;
  scopes?: Array<string> | string | null | undefined;
}>;


export type WatchSyncMutation = { watchSync: { result: Array<SyncedPlaceFragment> } | null };

export type ForgetPlaceMutationVariables = Exact<{
  place: string;
}>;


export type ForgetPlaceMutation = { forgetPlace: { result: JobFragment } | null };

export type CancelJobMutationVariables = Exact<{
  id: string;
}>;


export type CancelJobMutation = { cancelJob: { result: JobFragment } | null };

export type RebuildMutationVariables = Exact<{ [key: string]: never; }>;


export type RebuildMutation = { rebuild: { result: JobFragment } | null };

export type ReembedMutationVariables = Exact<{ [key: string]: never; }>;


export type ReembedMutation = { reembed: { result: JobFragment } | null };

export type BackupMutationVariables = Exact<{
  path: string;
}>;


export type BackupMutation = { backup: { result: JobFragment } | null };

export type RestoreBackupMutationVariables = Exact<{
  path: string;
}>;


export type RestoreBackupMutation = { restoreBackup: { result: JobFragment } | null };

export type RecoverMutationVariables = Exact<{ [key: string]: never; }>;


export type RecoverMutation = { recover: { result: JobFragment } | null };

export type AcknowledgeLossMutationVariables = Exact<{ [key: string]: never; }>;


export type AcknowledgeLossMutation = { acknowledgeLoss: { result: number } | null };

export type ShutdownMutationVariables = Exact<{ [key: string]: never; }>;


export type ShutdownMutation = { shutdown: { result: boolean } | null };

export type OpenLinkMutationVariables = Exact<{ [key: string]: never; }>;


export type OpenLinkMutation = { openLink: { result: OpenLinkFragment } | null };

export type EventsSubscriptionVariables = Exact<{
  types?: Array<string> | string | null | undefined;
}>;


export type EventsSubscription = { events: EventFragment };

export type JobProgressSubscriptionVariables = Exact<{
  id: string;
}>;


export type JobProgressSubscription = { jobProgress: JobFragment };

export type AcceptedFragment = { candidate: CandidateFragment, result: StoreResultFragment };

export type ActionContextFragment = { text: string, sites: Array<SiteFragment>, shown: Array<ShownFragment> };

export type AgentConnectionFragment = { client: string, name: string, installed: boolean, connected: string, file: string, hooks: boolean };

export type ArmFragment = { tasks: number, blocked: number, skipped: number, open: number, failedChecks: number, tokens: number, tokensPerTask: number, delivered: ShareFragment, repeated: ShareFragment };

export type ArmHitFragment = { arm: string, rank: number, score: number, contribution: number };

export type BackgroundStatusFragment = { paused: boolean, progress: string, queued: number, failed: number, lackingVectors: number, importance: number, budget: number, running: WorkItemFragment | null, items: Array<WorkItemFragment>, totals: Array<CountsFragment>, gate: GateReportFragment };

export type BriefFragment = { text: string, shown: Array<ShownFragment> };

export type BuilderContextFragment = { injected: Array<string>, text: string, prompt: string, shown: Array<ShownFragment> };

export type CandidateFragment = { id: string, scope: string, kind: Kind, trigger: string, resolution: string, recordedAt: string, confidence: Certainty, status: CandidateStatus, agent: string, session: string, task: string, source: string, memory: string, decidedAt: string | null, attributes: unknown, saidBy: string, provenance: ProvenanceFragment };

export type CandidateConnectionFragment = { totalCount: number, edges: Array<CandidateEdgeFragment>, pageInfo: PageInfoFragment };

export type CandidateEdgeFragment = { cursor: string, node: CandidateFragment };

export type CascadeFragment = { status: Progress, ready: Array<string>, inProgress: Array<string>, delivered: Array<string>, blocked: Array<string>, unreachable: Array<string> };

export type CentralNodeFragment = { rank: number, node: GraphNodeFragment };

export type CheckFragment = { kind: EvidenceKind, command: string, passed: boolean, exitStatus: number | null, testsPassed: number | null, testsFailed: number | null, commit: string, verify: boolean, at: string | null };

export type ClearedFragment = { cleared: Array<string>, kept: Array<string>, tasks: Array<unknown> };

export type CommunityFragment = { size: number, nodes: Array<GraphNodeFragment> };

export type CommunityInsideFragment = { size: number, nodes: Array<GraphNodeFragment>, edges: Array<GraphEdgeFragment> };

export type CountFragment = { name: string, value: number };

export type CountsFragment = { name: string, value: Array<CountFragment> };

export type CypherResultFragment = { columns: Array<string>, rows: Array<Array<unknown>>, truncated: boolean, elapsedMs: number };

export type DayFragment = { day: string, memories: number, episodes: number };

export type DeliveryFragment = { seq: string, slug: string, delivered: string, line: string };

export type DisputeFragment = { status: DisputeStatus, ground: string, left: string, right: string, since: string, outcome: Outcome | null, resolvedAt: string | null, note: string, drawnBy: string, first: MemoryFragment, second: MemoryFragment };

export type DisputeConnectionFragment = { totalCount: number, edges: Array<DisputeEdgeFragment>, pageInfo: PageInfoFragment };

export type DisputeEdgeFragment = { cursor: string, node: DisputeFragment };

export type DoctorFindingFragment = { check: string, ok: boolean, detail: string, hint: string };

export type DoctorReportFragment = { healthy: boolean, findings: Array<DoctorFindingFragment> };

export type DuplicateFragment = { id: string, similarity: number, first: MemoryFragment, second: MemoryFragment };

export type DuplicateConnectionFragment = { totalCount: number, edges: Array<DuplicateEdgeFragment>, pageInfo: PageInfoFragment };

export type DuplicateEdgeFragment = { cursor: string, node: DuplicateFragment };

export type EdgeFragment = { type: Relation, createdAt: string, weight: number, relation: string, lastUsedAt: string | null, attributes: unknown, source: RefFragment, target: RefFragment, provenance: ProvenanceFragment };

export type EdgeConnectionFragment = { totalCount: number, edges: Array<EdgeEdgeFragment>, pageInfo: PageInfoFragment };

export type EdgeEdgeFragment = { cursor: string, node: EdgeFragment };

export type EdgeSuggestionFragment = { relation: Relation, similarity: number, reason: string, memory: MemoryFragment };

export type EffectPeriodFragment = { start: string, shown: number, helped: number, failed: number, unused: number };

export type EpisodeFragment = { id: string, scope: string, content: string, recordedAt: string, occurredAt: string, session: string, agent: string, role: string, importance: number, source: string, status: Status, consolidatedAt: string | null, saidBy: string, provenance: ProvenanceFragment };

export type EpisodeConnectionFragment = { totalCount: number, edges: Array<EpisodeEdgeFragment>, pageInfo: PageInfoFragment };

export type EpisodeEdgeFragment = { cursor: string, node: EpisodeFragment };

export type ErasableFragment = { name: string, why: string, ref: RefFragment };

export type ErasePlanFragment = { copies: Array<string>, root: RefFragment, goes: Array<ErasableFragment>, stays: Array<ErasableFragment> };

export type EventFragment = { type: string, id: string, detail: unknown, missed: number };

export type EvidenceFragment = { depth: number, text: string, at: string, level: number, stands: boolean, cut: boolean, ref: RefFragment };

export type ExplorationFragment = { id: string, scope: string, objective: string, recordedAt: string, session: string, attributes: unknown };

export type ExplorationReportFragment = { problems: Array<string>, exploration: ExplorationFragment };

export type ExplorerContextFragment = { knownFacts: Array<string>, relevantFailures: Array<string>, injected: Array<string>, text: string, shown: Array<ShownFragment> };

export type FacetFragment = { value: string, count: number };

export type FacetsFragment = { total: number, scopes: Array<FacetFragment>, kinds: Array<FacetFragment>, statuses: Array<FacetFragment>, trusts: Array<FacetFragment>, days: Array<DayFragment> };

export type FigureFragment = { name: string, value: number };

export type GainFragment = { memoryId: string, name: string, use: string, outcome: string, helped: number, failed: number, quality: number | null, signs: Array<string>, overridden: boolean };

export type GateReportFragment = { read: number, dropped: number, dropRate: number | null };

export type GraphEdgeFragment = { type: Relation, weight: number, relation: string, createdAt: string, reason: string, drawn: boolean, heldSince: string | null, heldUntil: string | null, source: RefFragment, target: RefFragment };

export type GraphNodeFragment = { title: string, scope: string, saidBy: string, kind: Kind | null, status: Status | null, at: string | null, heldUntil: string | null, degree: number, ref: RefFragment };

export type GraphOverviewFragment = { totalNodes: number, totalEdges: number, nodes: Array<OverviewNodeFragment>, edges: Array<OverviewEdgeFragment> };

export type GraphPathFragment = { nodes: Array<GraphNodeFragment>, edges: Array<GraphEdgeFragment> };

export type GraphTableFragment = { name: string, kind: string, properties: Array<string> };

export type HarmFragment = { blocked: number, shown: number, failed: number, unused: number, failedShare: ShareFragment };

export type HealthFragment = { status: string, issues: Array<string>, stats: Array<CountFragment> };

export type HeatedNodeFragment = { heat: number, node: GraphNodeFragment };

export type HeldFragment = { name: string, scope: string, text: string, trust: Trust, saidBy: string, source: string, agent: string, recordedAt: string, reasons: Array<string>, id: string, ref: RefFragment };

export type HeldConnectionFragment = { totalCount: number, edges: Array<HeldEdgeFragment>, pageInfo: PageInfoFragment };

export type HeldEdgeFragment = { cursor: string, node: HeldFragment };

export type InboxFragment = { contradictions: number, quarantined: number, candidates: number, duplicates: number, gaps: number };

export type IngestProblemFragment = { where: string, why: string };

export type IngestReportFragment = { source: string, episodes: number, memories: number, edges: number, skipped: number, redacted: number, quarantined: number, vouched: number, problems: Array<IngestProblemFragment> };

export type InsightFragment = { reflection: ReflectionFragment, evidence: Array<EvidenceFragment> };

export type JobFragment = { id: string, kind: string, state: JobState, startedAt: string, endedAt: string | null, done: number, total: number, message: string, error: string, errorCode: string, result: unknown };

export type JobConnectionFragment = { totalCount: number, edges: Array<JobEdgeFragment>, pageInfo: PageInfoFragment };

export type JobEdgeFragment = { cursor: string, node: JobFragment };

export type KindAnswerFragment = { kind: Kind, answer: RecallAnswerFragment };

export type LeaderFragment = { memoryId: string, name: string, kind: string, shown: number, helped: number, failed: number, unused: number, claimed: number, withheld: number };

export type LiftFragment = { value: number, low: number, high: number, sure: boolean };

export type LogLineFragment = { at: string | null, level: string, text: string };

export type LoopHealthFragment = { status: string, issues: Array<string>, stats: LoopStatsFragment };

export type LoopStatsFragment = { memories: number, withFeedback: number, withoutFeedback: number, overallEffectiveness: number | null, relationships: number, embeddingCoverage: number, ineffective: number, tasks: number, injected: number, withheld: number, judged: number, credited: number, unjudged: number, sessionsWithoutTask: Array<string>, tasksByStatus: Array<CountFragment>, tasksByOutcome: Array<CountFragment>, candidates: Array<CountFragment> };

export type MaintenanceReportFragment = { operation: string, changed: number, names: Array<string>, dryRun: boolean, job: string };

export type MemoryFragment = { id: string, scope: string, name: string, kind: Kind, trigger: string, resolution: string, recordedAt: string, status: Status, confidence: number, importance: number, helped: number, failed: number, uses: number, easiness: number, halfLifeDays: number, validFrom: string | null, validTo: string | null, retiredAt: string | null, lastUsedAt: string | null, source: string, attributes: unknown, effectiveness: number | null, isSummary: boolean, isDerived: boolean, saidBy: string, confidenceLabel: string, provenance: ProvenanceFragment };

export type MemoryConnectionFragment = { totalCount: number, edges: Array<MemoryEdgeFragment>, pageInfo: PageInfoFragment };

export type MemoryEdgeFragment = { cursor: string, node: MemoryFragment };

export type MemoryEffectFragment = { shown: number, helped: number, failed: number, unused: number, claimed: number, withheld: number, days: number, memory: MemoryFragment, periods: Array<EffectPeriodFragment> };

export type MemoryShareFragment = { name: string, key: string, scopes: Array<string>, write: boolean, since: string, token: string };

export type ModelSpendFragment = { month: string, provider: string, calls: number, failures: number, tokensIn: number, tokensOut: number, cost: number };

export type ModelUsageFragment = { budget: number, paidTokens: number, calls: number, cacheHits: number, standing: string, providers: Array<ProviderStateFragment>, spend: Array<ModelSpendFragment>, absences: Array<CountFragment> };

export type NamesFragment = { name: string, value: Array<string> };

export type NearNodeFragment = { steps: number, node: GraphNodeFragment };

export type NeighbourhoodFragment = { truncated: boolean, centre: GraphNodeFragment, nodes: Array<NearNodeFragment>, edges: Array<GraphEdgeFragment> };

type Node_Candidate_Fragment = { __typename: 'Candidate', id: string, scope: string };

type Node_Entity_Fragment = { __typename: 'Entity', id: string, scope: string };

type Node_Episode_Fragment = (
  { __typename: 'Episode', id: string, scope: string }
  & EpisodeFragment
);

type Node_Exploration_Fragment = { __typename: 'Exploration', id: string, scope: string };

type Node_Memory_Fragment = (
  { __typename: 'Memory', id: string, scope: string }
  & MemoryFragment
);

type Node_Plan_Fragment = { __typename: 'Plan', id: string, scope: string };

type Node_Reflection_Fragment = (
  { __typename: 'Reflection', id: string, scope: string }
  & ReflectionFragment
);

type Node_Session_Fragment = { __typename: 'Session', id: string, scope: string };

type Node_Task_Fragment = { __typename: 'Task', id: string, scope: string };

type Node_Workspace_Fragment = { __typename: 'Workspace', id: string, scope: string };

export type NodeFragment =
  | Node_Candidate_Fragment
  | Node_Entity_Fragment
  | Node_Episode_Fragment
  | Node_Exploration_Fragment
  | Node_Memory_Fragment
  | Node_Plan_Fragment
  | Node_Reflection_Fragment
  | Node_Session_Fragment
  | Node_Task_Fragment
  | Node_Workspace_Fragment
;

export type ObservedFragment = { candidates: Array<CandidateFragment>, stored: Array<StoreResultFragment>, skipped: Array<CandidateFragment>, queued: Array<CandidateFragment> };

export type OpenLinkFragment = { url: string, expiresInSeconds: number };

export type OverviewEdgeFragment = { source: string, target: string, weight: number };

export type OverviewNodeFragment = { id: string, title: string, size: number, x: number, y: number, radius: number, members: Array<GraphNodeFragment> };

export type PageInfoFragment = { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null };

export type PeriodFragment = { start: string, withEnded: number, withDelivered: number, withoutEnded: number, withoutDelivered: number, tokens: number, withDeliveredShare: ShareFragment, withoutDeliveredShare: ShareFragment, withRepeatedShare: ShareFragment, withoutRepeatedShare: ShareFragment };

export type PlanFragment = { id: string, scope: string, objective: string, recordedAt: string, status: string, attributes: unknown };

export type PlanConnectionFragment = { totalCount: number, edges: Array<PlanEdgeFragment>, pageInfo: PageInfoFragment };

export type PlanEdgeFragment = { cursor: string, node: PlanFragment };

export type PlanReportFragment = { exploration: string, problems: Array<string>, taskCount: number, plan: PlanFragment, tasks: Array<PlanTaskFragment> };

export type PlanTaskFragment = { id: string, clientTask: string, seq: string, slug: string, objective: string, delta: Array<string>, verify: string, depends: Array<string>, budget: number, relevantFiles: Array<string>, status: string, outcome: string, delivered: string };

export type PlannerContextFragment = { decisions: Array<string>, conventions: Array<string>, recentEvolution: Array<string>, injected: Array<string>, text: string, shown: Array<ShownFragment> };

export type ProvenanceFragment = { slice: string, extractor: string, model: string, agent: string, trust: Trust, isStrangers: boolean };

export type ProviderStateFragment = { model: string, free: boolean, ready: boolean, state: string, place: string, trouble: string };

export type RecallAnswerFragment = { mode: string, recipe: string, tokens: number, notes: Array<string>, at: string | null, query: RecallQueryFragment, items: Array<RecallItemFragment>, timingsMs: Array<FigureFragment> };

export type RecallItemFragment = { label: Label, score: number, relevance: number, recency: number, effectiveness: number, confidenceLabel: string, text: string, tokens: number, reason: string, fit: number, standsOut: boolean, standing: string, node:
    | Node_Candidate_Fragment
    | Node_Entity_Fragment
    | Node_Episode_Fragment
    | Node_Exploration_Fragment
    | Node_Memory_Fragment
    | Node_Plan_Fragment
    | Node_Reflection_Fragment
    | Node_Session_Fragment
    | Node_Task_Fragment
    | Node_Workspace_Fragment
  , arms: Array<ArmHitFragment>, factors: Array<FigureFragment> };

export type RecallQueryFragment = { query: string, scope: string | null, kinds: Array<Kind>, labels: Array<Label>, trust: Array<Trust>, status: Array<Status>, limit: number, intent: Intent | null, expand: Expand, files: Array<string>, asOf: string | null, knownAt: string | null, askedAt: string | null, since: string | null, until: string | null, time: TimeKind, budgetTokens: number, recipe: string | null, rerank: boolean | null, deep: boolean, everything: boolean, explain: boolean, session: string };

export type RecordingFragment = { reason: string, redacted: Array<string>, suspicious: Array<string>, id: string | null, episode: EpisodeFragment | null };

export type RefFragment = { label: Label, id: string };

export type ReflectionFragment = { id: string, scope: string, question: string, insight: string, recordedAt: string, level: number, confidence: number, status: Status, validFrom: string | null, validTo: string | null, retiredAt: string | null, lastUsedAt: string | null, saidBy: string, provenance: ProvenanceFragment };

export type ReflectionConnectionFragment = { totalCount: number, edges: Array<ReflectionEdgeFragment>, pageInfo: PageInfoFragment };

export type ReflectionEdgeFragment = { cursor: string, node: ReflectionFragment };

export type ReportFragment = { at: string, since: string | null, scope: string | null, holdback: number, least: number, enough: boolean, neither: number, days: number, says: Array<string>, withMemory: ArmFragment, heldBack: ArmFragment, undrawn: ArmFragment, delivered: LiftFragment | null, repeated: LiftFragment | null, harm: HarmFragment, periods: Array<PeriodFragment>, leaders: Array<LeaderFragment> };

export type SessionReportFragment = { name: string, scope: string, agent: string, startedAt: string, endedAt: string | null, private: boolean, episodes: number, id: string };

export type SessionReportConnectionFragment = { totalCount: number, edges: Array<SessionReportEdgeFragment>, pageInfo: PageInfoFragment };

export type SessionReportEdgeFragment = { cursor: string, node: SessionReportFragment };

export type SettingFragment = { name: string, value: string | null, source: string, variable: string, help: string };

export type ShareFragment = { hits: number, cases: number, value: number | null, low: number, high: number };

export type ShowingFragment = { id: string, task: string, memoryId: string, name: string, objective: string, session: string, at: string, arm: string, rank: number, score: number, tokens: number, withheld: boolean, outcome: string, use: Array<string> };

export type ShowingConnectionFragment = { totalCount: number, edges: Array<ShowingEdgeFragment>, pageInfo: PageInfoFragment };

export type ShowingEdgeFragment = { cursor: string, node: ShowingFragment };

export type ShownFragment = { memoryId: string, name: string, kind: string, rank: number, score: number, arm: string, tokens: number };

export type SimilarMemoryFragment = { similarity: number, memory: MemoryFragment };

export type SiteFragment = { reason: string, arm: string, level: number, memory: MemoryFragment };

export type StallFragment = { pending: Array<string>, blocked: Array<string>, missing: Array<string>, cycles: Array<Array<string>>, waiting: Array<NamesFragment> };

export type StalledFragment = { stalled: boolean, info: StallFragment | null };

export type StatsFragment = { total: number, totalHelped: number, totalFailed: number, withFeedback: number, withoutFeedback: number, overallEffectiveness: number | null, episodes: number, entities: number, relationships: number, embeddingCoverage: number, byType: Array<CountFragment>, byStatus: Array<CountFragment> };

export type StatusReportFragment = { version: string, store: string, mode: string, model: string, dimension: number, journalRows: number, appliedSeq: number, refused: number, durability: Durability, journalBytesWeek: number, memoryBytes: number, paused: boolean, edges: number, warnings: Array<string>, startedAt: string, holdback: number, diskBytes: Array<CountFragment>, nodes: Array<CountFragment>, jobs: Array<JobFragment>, background: BackgroundStatusFragment | null, models: ModelUsageFragment | null };

export type StoreResultFragment = { status: StoreStatus, name: string, id: string, redacted: Array<string>, suspicious: Array<string>, contradicts: Array<string> };

export type StrandDifferenceFragment = { lines: Array<string>, scopes: Array<CountsFragment> };

export type StrandInfoFragment = { path: string, version: string, parents: Array<string>, since: string | null, createdAt: string, createdBy: string, signer: string, knownAs: string, trust: Trust | null, why: string, tag: string, root: string, schema: number, model: string, opensWith: Array<string>, scopes: Array<string>, history: string, verified: boolean, counts: Array<CountFragment>, tables: Array<StrandTableFragment> };

export type StrandKeyFragment = { name: string, public: string, own: boolean, trust: Trust, since: string | null, revokedAt: string | null };

export type StrandTableFragment = { scope: string, table: string, rows: number, digest: string };

export type StrandVersionFragment = { id: string, parents: Array<string>, at: string, who: string, why: string, tag: string, root: string, scopes: Array<string> | null, nodes: number | null, held: boolean };

export type SyncedPlaceFragment = { place: string, scopes: Array<string> | null, minutes: number | null, at: string | null, error: string, problems: Array<string> };

export type TaskFragment = { id: string, scope: string, objective: string, recordedAt: string, status: string, outcome: string, session: string, treatment: string, verification: string, endedAt: string | null, attributes: unknown };

export type TaskOutcomeFragment = { task: string, outcome: string, claimed: string, verification: Verification, changed: boolean, evidence: Array<CheckFragment>, gains: Array<GainFragment> };

export type TaskReportFragment = { plan: string, waitsFor: Array<string>, claimed: string, task: TaskFragment, evidence: Array<CheckFragment>, showings: Array<ShowingFragment>, learned: Array<MemoryFragment> };

export type TaskStateFragment = { executable: boolean, finished: boolean, successful: boolean, outcome: string, blocksDependents: boolean };

export type UndoConflictFragment = { what: string, by: string };

export type UndoReportFragment = { job: string, restored: number, keptOut: number, dryRun: boolean, conflicts: Array<UndoConflictFragment> };

export type VersionFragment = { seq: number, at: string, change: string, by: string, trust: Trust, reason: string, memory: MemoryFragment };

export type VersionConnectionFragment = { totalCount: number, edges: Array<VersionEdgeFragment>, pageInfo: PageInfoFragment };

export type VersionEdgeFragment = { cursor: string, node: VersionFragment };

export type WalkFragment = { nodes: Array<HeatedNodeFragment>, edges: Array<GraphEdgeFragment> };

export type WorkItemFragment = { id: string, kind: string, key: string, payload: unknown, state: WorkState, attempts: number, notBefore: string, createdAt: string, startedAt: string | null, endedAt: string | null, error: string, changed: boolean, result: Array<CountFragment> };

export type WorkPlanFragment = { kind: string, lines: Array<string>, withoutModel: boolean, counts: Array<CountFragment> };

export type WorkspaceFragment = { id: string, scope: string, recordedAt: string, status: string, endedAt: string | null, attributes: unknown };

export type WorkspaceReportFragment = { prompt: string, heldBack: boolean, problems: Array<string>, workspace: WorkspaceFragment, task: PlanTaskFragment, injected: Array<ShownFragment> };

export type WorkspaceReportConnectionFragment = { totalCount: number, edges: Array<WorkspaceReportEdgeFragment>, pageInfo: PageInfoFragment };

export type WorkspaceReportEdgeFragment = { cursor: string, node: WorkspaceReportFragment };

export const ProvenanceFragmentDoc = gql`
    fragment Provenance on Provenance {
  slice
  extractor
  model
  agent
  trust
  isStrangers
}
    ` as unknown as DocumentNode<ProvenanceFragment, unknown>;
export const CandidateFragmentDoc = gql`
    fragment Candidate on Candidate {
  id
  scope
  kind
  trigger
  resolution
  recordedAt
  confidence
  status
  agent
  session
  task
  source
  memory
  decidedAt
  attributes
  provenance {
    ...Provenance
  }
  saidBy
}
    ` as unknown as DocumentNode<CandidateFragment, unknown>;
export const StoreResultFragmentDoc = gql`
    fragment StoreResult on StoreResult {
  status
  name
  id
  redacted
  suspicious
  contradicts
}
    ` as unknown as DocumentNode<StoreResultFragment, unknown>;
export const AcceptedFragmentDoc = gql`
    fragment Accepted on Accepted {
  candidate {
    ...Candidate
  }
  result {
    ...StoreResult
  }
}
    ` as unknown as DocumentNode<AcceptedFragment, unknown>;
export const MemoryFragmentDoc = gql`
    fragment Memory on Memory {
  id
  scope
  name
  kind
  trigger
  resolution
  recordedAt
  status
  confidence
  importance
  helped
  failed
  uses
  easiness
  halfLifeDays
  validFrom
  validTo
  retiredAt
  lastUsedAt
  source
  attributes
  provenance {
    ...Provenance
  }
  effectiveness
  isSummary
  isDerived
  saidBy
  confidenceLabel
}
    ` as unknown as DocumentNode<MemoryFragment, unknown>;
export const SiteFragmentDoc = gql`
    fragment Site on Site {
  memory {
    ...Memory
  }
  reason
  arm
  level
}
    ` as unknown as DocumentNode<SiteFragment, unknown>;
export const ShownFragmentDoc = gql`
    fragment Shown on Shown {
  memoryId
  name
  kind
  rank
  score
  arm
  tokens
}
    ` as unknown as DocumentNode<ShownFragment, unknown>;
export const ActionContextFragmentDoc = gql`
    fragment ActionContext on ActionContext {
  sites {
    ...Site
  }
  text
  shown {
    ...Shown
  }
}
    ` as unknown as DocumentNode<ActionContextFragment, unknown>;
export const AgentConnectionFragmentDoc = gql`
    fragment AgentConnection on AgentConnection {
  client
  name
  installed
  connected
  file
  hooks
}
    ` as unknown as DocumentNode<AgentConnectionFragment, unknown>;
export const BriefFragmentDoc = gql`
    fragment Brief on Brief {
  text
  shown {
    ...Shown
  }
}
    ` as unknown as DocumentNode<BriefFragment, unknown>;
export const BuilderContextFragmentDoc = gql`
    fragment BuilderContext on BuilderContext {
  injected
  text
  shown {
    ...Shown
  }
  prompt
}
    ` as unknown as DocumentNode<BuilderContextFragment, unknown>;
export const CandidateEdgeFragmentDoc = gql`
    fragment CandidateEdge on CandidateEdge {
  cursor
  node {
    ...Candidate
  }
}
    ` as unknown as DocumentNode<CandidateEdgeFragment, unknown>;
export const PageInfoFragmentDoc = gql`
    fragment PageInfo on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
    ` as unknown as DocumentNode<PageInfoFragment, unknown>;
export const CandidateConnectionFragmentDoc = gql`
    fragment CandidateConnection on CandidateConnection {
  edges {
    ...CandidateEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<CandidateConnectionFragment, unknown>;
export const CascadeFragmentDoc = gql`
    fragment Cascade on Cascade {
  status
  ready
  inProgress
  delivered
  blocked
  unreachable
}
    ` as unknown as DocumentNode<CascadeFragment, unknown>;
export const RefFragmentDoc = gql`
    fragment Ref on Ref {
  label
  id
}
    ` as unknown as DocumentNode<RefFragment, unknown>;
export const GraphNodeFragmentDoc = gql`
    fragment GraphNode on GraphNode {
  ref {
    ...Ref
  }
  title
  scope
  saidBy
  kind
  status
  at
  heldUntil
  degree
}
    ` as unknown as DocumentNode<GraphNodeFragment, unknown>;
export const CentralNodeFragmentDoc = gql`
    fragment CentralNode on CentralNode {
  node {
    ...GraphNode
  }
  rank
}
    ` as unknown as DocumentNode<CentralNodeFragment, unknown>;
export const ClearedFragmentDoc = gql`
    fragment Cleared on Cleared {
  cleared
  kept
  tasks
}
    ` as unknown as DocumentNode<ClearedFragment, unknown>;
export const CommunityFragmentDoc = gql`
    fragment Community on Community {
  size
  nodes {
    ...GraphNode
  }
}
    ` as unknown as DocumentNode<CommunityFragment, unknown>;
export const GraphEdgeFragmentDoc = gql`
    fragment GraphEdge on GraphEdge {
  type
  source {
    ...Ref
  }
  target {
    ...Ref
  }
  weight
  relation
  createdAt
  reason
  drawn
  heldSince
  heldUntil
}
    ` as unknown as DocumentNode<GraphEdgeFragment, unknown>;
export const CommunityInsideFragmentDoc = gql`
    fragment CommunityInside on CommunityInside {
  size
  nodes {
    ...GraphNode
  }
  edges {
    ...GraphEdge
  }
}
    ` as unknown as DocumentNode<CommunityInsideFragment, unknown>;
export const CypherResultFragmentDoc = gql`
    fragment CypherResult on CypherResult {
  columns
  rows
  truncated
  elapsedMs
}
    ` as unknown as DocumentNode<CypherResultFragment, unknown>;
export const DeliveryFragmentDoc = gql`
    fragment Delivery on Delivery {
  seq
  slug
  delivered
  line
}
    ` as unknown as DocumentNode<DeliveryFragment, unknown>;
export const DisputeFragmentDoc = gql`
    fragment Dispute on Dispute {
  first {
    ...Memory
  }
  second {
    ...Memory
  }
  status
  ground
  left
  right
  since
  outcome
  resolvedAt
  note
  drawnBy
}
    ` as unknown as DocumentNode<DisputeFragment, unknown>;
export const DisputeEdgeFragmentDoc = gql`
    fragment DisputeEdge on DisputeEdge {
  cursor
  node {
    ...Dispute
  }
}
    ` as unknown as DocumentNode<DisputeEdgeFragment, unknown>;
export const DisputeConnectionFragmentDoc = gql`
    fragment DisputeConnection on DisputeConnection {
  edges {
    ...DisputeEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<DisputeConnectionFragment, unknown>;
export const DoctorFindingFragmentDoc = gql`
    fragment DoctorFinding on DoctorFinding {
  check
  ok
  detail
  hint
}
    ` as unknown as DocumentNode<DoctorFindingFragment, unknown>;
export const DoctorReportFragmentDoc = gql`
    fragment DoctorReport on DoctorReport {
  findings {
    ...DoctorFinding
  }
  healthy
}
    ` as unknown as DocumentNode<DoctorReportFragment, unknown>;
export const DuplicateFragmentDoc = gql`
    fragment Duplicate on Duplicate {
  id
  first {
    ...Memory
  }
  second {
    ...Memory
  }
  similarity
}
    ` as unknown as DocumentNode<DuplicateFragment, unknown>;
export const DuplicateEdgeFragmentDoc = gql`
    fragment DuplicateEdge on DuplicateEdge {
  cursor
  node {
    ...Duplicate
  }
}
    ` as unknown as DocumentNode<DuplicateEdgeFragment, unknown>;
export const DuplicateConnectionFragmentDoc = gql`
    fragment DuplicateConnection on DuplicateConnection {
  edges {
    ...DuplicateEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<DuplicateConnectionFragment, unknown>;
export const EdgeFragmentDoc = gql`
    fragment Edge on Edge {
  type
  source {
    ...Ref
  }
  target {
    ...Ref
  }
  createdAt
  weight
  relation
  lastUsedAt
  attributes
  provenance {
    ...Provenance
  }
}
    ` as unknown as DocumentNode<EdgeFragment, unknown>;
export const EdgeEdgeFragmentDoc = gql`
    fragment EdgeEdge on EdgeEdge {
  cursor
  node {
    ...Edge
  }
}
    ` as unknown as DocumentNode<EdgeEdgeFragment, unknown>;
export const EdgeConnectionFragmentDoc = gql`
    fragment EdgeConnection on EdgeConnection {
  edges {
    ...EdgeEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<EdgeConnectionFragment, unknown>;
export const EdgeSuggestionFragmentDoc = gql`
    fragment EdgeSuggestion on EdgeSuggestion {
  memory {
    ...Memory
  }
  relation
  similarity
  reason
}
    ` as unknown as DocumentNode<EdgeSuggestionFragment, unknown>;
export const EpisodeFragmentDoc = gql`
    fragment Episode on Episode {
  id
  scope
  content
  recordedAt
  occurredAt
  session
  agent
  role
  importance
  source
  status
  consolidatedAt
  provenance {
    ...Provenance
  }
  saidBy
}
    ` as unknown as DocumentNode<EpisodeFragment, unknown>;
export const EpisodeEdgeFragmentDoc = gql`
    fragment EpisodeEdge on EpisodeEdge {
  cursor
  node {
    ...Episode
  }
}
    ` as unknown as DocumentNode<EpisodeEdgeFragment, unknown>;
export const EpisodeConnectionFragmentDoc = gql`
    fragment EpisodeConnection on EpisodeConnection {
  edges {
    ...EpisodeEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<EpisodeConnectionFragment, unknown>;
export const ErasableFragmentDoc = gql`
    fragment Erasable on Erasable {
  ref {
    ...Ref
  }
  name
  why
}
    ` as unknown as DocumentNode<ErasableFragment, unknown>;
export const ErasePlanFragmentDoc = gql`
    fragment ErasePlan on ErasePlan {
  root {
    ...Ref
  }
  goes {
    ...Erasable
  }
  stays {
    ...Erasable
  }
  copies
}
    ` as unknown as DocumentNode<ErasePlanFragment, unknown>;
export const EventFragmentDoc = gql`
    fragment Event on Event {
  type
  id
  detail
  missed
}
    ` as unknown as DocumentNode<EventFragment, unknown>;
export const ExplorationFragmentDoc = gql`
    fragment Exploration on Exploration {
  id
  scope
  objective
  recordedAt
  session
  attributes
}
    ` as unknown as DocumentNode<ExplorationFragment, unknown>;
export const ExplorationReportFragmentDoc = gql`
    fragment ExplorationReport on ExplorationReport {
  exploration {
    ...Exploration
  }
  problems
}
    ` as unknown as DocumentNode<ExplorationReportFragment, unknown>;
export const ExplorerContextFragmentDoc = gql`
    fragment ExplorerContext on ExplorerContext {
  knownFacts
  relevantFailures
  injected
  text
  shown {
    ...Shown
  }
}
    ` as unknown as DocumentNode<ExplorerContextFragment, unknown>;
export const FacetFragmentDoc = gql`
    fragment Facet on Facet {
  value
  count
}
    ` as unknown as DocumentNode<FacetFragment, unknown>;
export const DayFragmentDoc = gql`
    fragment Day on Day {
  day
  memories
  episodes
}
    ` as unknown as DocumentNode<DayFragment, unknown>;
export const FacetsFragmentDoc = gql`
    fragment Facets on Facets {
  total
  scopes {
    ...Facet
  }
  kinds {
    ...Facet
  }
  statuses {
    ...Facet
  }
  trusts {
    ...Facet
  }
  days {
    ...Day
  }
}
    ` as unknown as DocumentNode<FacetsFragment, unknown>;
export const OverviewNodeFragmentDoc = gql`
    fragment OverviewNode on OverviewNode {
  id
  title
  size
  x
  y
  radius
  members {
    ...GraphNode
  }
}
    ` as unknown as DocumentNode<OverviewNodeFragment, unknown>;
export const OverviewEdgeFragmentDoc = gql`
    fragment OverviewEdge on OverviewEdge {
  source
  target
  weight
}
    ` as unknown as DocumentNode<OverviewEdgeFragment, unknown>;
export const GraphOverviewFragmentDoc = gql`
    fragment GraphOverview on GraphOverview {
  nodes {
    ...OverviewNode
  }
  edges {
    ...OverviewEdge
  }
  totalNodes
  totalEdges
}
    ` as unknown as DocumentNode<GraphOverviewFragment, unknown>;
export const GraphPathFragmentDoc = gql`
    fragment GraphPath on GraphPath {
  nodes {
    ...GraphNode
  }
  edges {
    ...GraphEdge
  }
}
    ` as unknown as DocumentNode<GraphPathFragment, unknown>;
export const GraphTableFragmentDoc = gql`
    fragment GraphTable on GraphTable {
  name
  kind
  properties
}
    ` as unknown as DocumentNode<GraphTableFragment, unknown>;
export const CountFragmentDoc = gql`
    fragment Count on Count {
  name
  value
}
    ` as unknown as DocumentNode<CountFragment, unknown>;
export const HealthFragmentDoc = gql`
    fragment Health on Health {
  status
  issues
  stats {
    ...Count
  }
}
    ` as unknown as DocumentNode<HealthFragment, unknown>;
export const HeldFragmentDoc = gql`
    fragment Held on Held {
  ref {
    ...Ref
  }
  name
  scope
  text
  trust
  saidBy
  source
  agent
  recordedAt
  reasons
  id
}
    ` as unknown as DocumentNode<HeldFragment, unknown>;
export const HeldEdgeFragmentDoc = gql`
    fragment HeldEdge on HeldEdge {
  cursor
  node {
    ...Held
  }
}
    ` as unknown as DocumentNode<HeldEdgeFragment, unknown>;
export const HeldConnectionFragmentDoc = gql`
    fragment HeldConnection on HeldConnection {
  edges {
    ...HeldEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<HeldConnectionFragment, unknown>;
export const InboxFragmentDoc = gql`
    fragment Inbox on Inbox {
  contradictions
  quarantined
  candidates
  duplicates
  gaps
}
    ` as unknown as DocumentNode<InboxFragment, unknown>;
export const IngestProblemFragmentDoc = gql`
    fragment IngestProblem on IngestProblem {
  where
  why
}
    ` as unknown as DocumentNode<IngestProblemFragment, unknown>;
export const IngestReportFragmentDoc = gql`
    fragment IngestReport on IngestReport {
  source
  episodes
  memories
  edges
  skipped
  redacted
  quarantined
  problems {
    ...IngestProblem
  }
  vouched
}
    ` as unknown as DocumentNode<IngestReportFragment, unknown>;
export const ReflectionFragmentDoc = gql`
    fragment Reflection on Reflection {
  id
  scope
  question
  insight
  recordedAt
  level
  confidence
  status
  validFrom
  validTo
  retiredAt
  lastUsedAt
  provenance {
    ...Provenance
  }
  saidBy
}
    ` as unknown as DocumentNode<ReflectionFragment, unknown>;
export const EvidenceFragmentDoc = gql`
    fragment Evidence on Evidence {
  depth
  ref {
    ...Ref
  }
  text
  at
  level
  stands
  cut
}
    ` as unknown as DocumentNode<EvidenceFragment, unknown>;
export const InsightFragmentDoc = gql`
    fragment Insight on Insight {
  reflection {
    ...Reflection
  }
  evidence {
    ...Evidence
  }
}
    ` as unknown as DocumentNode<InsightFragment, unknown>;
export const JobFragmentDoc = gql`
    fragment Job on Job {
  id
  kind
  state
  startedAt
  endedAt
  done
  total
  message
  error
  errorCode
  result
}
    ` as unknown as DocumentNode<JobFragment, unknown>;
export const JobEdgeFragmentDoc = gql`
    fragment JobEdge on JobEdge {
  cursor
  node {
    ...Job
  }
}
    ` as unknown as DocumentNode<JobEdgeFragment, unknown>;
export const JobConnectionFragmentDoc = gql`
    fragment JobConnection on JobConnection {
  edges {
    ...JobEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<JobConnectionFragment, unknown>;
export const RecallQueryFragmentDoc = gql`
    fragment RecallQuery on RecallQuery {
  query
  scope
  kinds
  labels
  trust
  status
  limit
  intent
  expand
  files
  asOf
  knownAt
  askedAt
  since
  until
  time
  budgetTokens
  recipe
  rerank
  deep
  everything
  explain
  session
}
    ` as unknown as DocumentNode<RecallQueryFragment, unknown>;
export const NodeFragmentDoc = gql`
    fragment Node on Node {
  __typename
  id
  scope
  ...Memory
  ...Episode
  ...Reflection
}
    ` as unknown as DocumentNode<NodeFragment, unknown>;
export const ArmHitFragmentDoc = gql`
    fragment ArmHit on ArmHit {
  arm
  rank
  score
  contribution
}
    ` as unknown as DocumentNode<ArmHitFragment, unknown>;
export const FigureFragmentDoc = gql`
    fragment Figure on Figure {
  name
  value
}
    ` as unknown as DocumentNode<FigureFragment, unknown>;
export const RecallItemFragmentDoc = gql`
    fragment RecallItem on RecallItem {
  node {
    ...Node
  }
  label
  score
  relevance
  recency
  effectiveness
  confidenceLabel
  text
  tokens
  arms {
    ...ArmHit
  }
  factors {
    ...Figure
  }
  reason
  fit
  standsOut
  standing
}
    ` as unknown as DocumentNode<RecallItemFragment, unknown>;
export const RecallAnswerFragmentDoc = gql`
    fragment RecallAnswer on RecallAnswer {
  query {
    ...RecallQuery
  }
  items {
    ...RecallItem
  }
  mode
  recipe
  tokens
  timingsMs {
    ...Figure
  }
  notes
  at
}
    ` as unknown as DocumentNode<RecallAnswerFragment, unknown>;
export const KindAnswerFragmentDoc = gql`
    fragment KindAnswer on KindAnswer {
  kind
  answer {
    ...RecallAnswer
  }
}
    ` as unknown as DocumentNode<KindAnswerFragment, unknown>;
export const LogLineFragmentDoc = gql`
    fragment LogLine on LogLine {
  at
  level
  text
}
    ` as unknown as DocumentNode<LogLineFragment, unknown>;
export const LoopStatsFragmentDoc = gql`
    fragment LoopStats on LoopStats {
  memories
  withFeedback
  withoutFeedback
  overallEffectiveness
  relationships
  embeddingCoverage
  ineffective
  tasks
  tasksByStatus {
    ...Count
  }
  tasksByOutcome {
    ...Count
  }
  injected
  withheld
  judged
  credited
  unjudged
  sessionsWithoutTask
  candidates {
    ...Count
  }
}
    ` as unknown as DocumentNode<LoopStatsFragment, unknown>;
export const LoopHealthFragmentDoc = gql`
    fragment LoopHealth on LoopHealth {
  status
  issues
  stats {
    ...LoopStats
  }
}
    ` as unknown as DocumentNode<LoopHealthFragment, unknown>;
export const MaintenanceReportFragmentDoc = gql`
    fragment MaintenanceReport on MaintenanceReport {
  operation
  changed
  names
  dryRun
  job
}
    ` as unknown as DocumentNode<MaintenanceReportFragment, unknown>;
export const MemoryEdgeFragmentDoc = gql`
    fragment MemoryEdge on MemoryEdge {
  cursor
  node {
    ...Memory
  }
}
    ` as unknown as DocumentNode<MemoryEdgeFragment, unknown>;
export const MemoryConnectionFragmentDoc = gql`
    fragment MemoryConnection on MemoryConnection {
  edges {
    ...MemoryEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<MemoryConnectionFragment, unknown>;
export const EffectPeriodFragmentDoc = gql`
    fragment EffectPeriod on EffectPeriod {
  start
  shown
  helped
  failed
  unused
}
    ` as unknown as DocumentNode<EffectPeriodFragment, unknown>;
export const MemoryEffectFragmentDoc = gql`
    fragment MemoryEffect on MemoryEffect {
  memory {
    ...Memory
  }
  shown
  helped
  failed
  unused
  claimed
  withheld
  days
  periods {
    ...EffectPeriod
  }
}
    ` as unknown as DocumentNode<MemoryEffectFragment, unknown>;
export const MemoryShareFragmentDoc = gql`
    fragment MemoryShare on MemoryShare {
  name
  key
  scopes
  write
  since
  token
}
    ` as unknown as DocumentNode<MemoryShareFragment, unknown>;
export const NearNodeFragmentDoc = gql`
    fragment NearNode on NearNode {
  node {
    ...GraphNode
  }
  steps
}
    ` as unknown as DocumentNode<NearNodeFragment, unknown>;
export const NeighbourhoodFragmentDoc = gql`
    fragment Neighbourhood on Neighbourhood {
  centre {
    ...GraphNode
  }
  nodes {
    ...NearNode
  }
  edges {
    ...GraphEdge
  }
  truncated
}
    ` as unknown as DocumentNode<NeighbourhoodFragment, unknown>;
export const ObservedFragmentDoc = gql`
    fragment Observed on Observed {
  candidates {
    ...Candidate
  }
  stored {
    ...StoreResult
  }
  skipped {
    ...Candidate
  }
  queued {
    ...Candidate
  }
}
    ` as unknown as DocumentNode<ObservedFragment, unknown>;
export const OpenLinkFragmentDoc = gql`
    fragment OpenLink on OpenLink {
  url
  expiresInSeconds
}
    ` as unknown as DocumentNode<OpenLinkFragment, unknown>;
export const PlanFragmentDoc = gql`
    fragment Plan on Plan {
  id
  scope
  objective
  recordedAt
  status
  attributes
}
    ` as unknown as DocumentNode<PlanFragment, unknown>;
export const PlanEdgeFragmentDoc = gql`
    fragment PlanEdge on PlanEdge {
  cursor
  node {
    ...Plan
  }
}
    ` as unknown as DocumentNode<PlanEdgeFragment, unknown>;
export const PlanConnectionFragmentDoc = gql`
    fragment PlanConnection on PlanConnection {
  edges {
    ...PlanEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<PlanConnectionFragment, unknown>;
export const PlanTaskFragmentDoc = gql`
    fragment PlanTask on PlanTask {
  id
  clientTask
  seq
  slug
  objective
  delta
  verify
  depends
  budget
  relevantFiles
  status
  outcome
  delivered
}
    ` as unknown as DocumentNode<PlanTaskFragment, unknown>;
export const PlanReportFragmentDoc = gql`
    fragment PlanReport on PlanReport {
  plan {
    ...Plan
  }
  tasks {
    ...PlanTask
  }
  exploration
  problems
  taskCount
}
    ` as unknown as DocumentNode<PlanReportFragment, unknown>;
export const PlannerContextFragmentDoc = gql`
    fragment PlannerContext on PlannerContext {
  decisions
  conventions
  recentEvolution
  injected
  text
  shown {
    ...Shown
  }
}
    ` as unknown as DocumentNode<PlannerContextFragment, unknown>;
export const RecordingFragmentDoc = gql`
    fragment Recording on Recording {
  episode {
    ...Episode
  }
  reason
  redacted
  suspicious
  id
}
    ` as unknown as DocumentNode<RecordingFragment, unknown>;
export const ReflectionEdgeFragmentDoc = gql`
    fragment ReflectionEdge on ReflectionEdge {
  cursor
  node {
    ...Reflection
  }
}
    ` as unknown as DocumentNode<ReflectionEdgeFragment, unknown>;
export const ReflectionConnectionFragmentDoc = gql`
    fragment ReflectionConnection on ReflectionConnection {
  edges {
    ...ReflectionEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<ReflectionConnectionFragment, unknown>;
export const ShareFragmentDoc = gql`
    fragment Share on Share {
  hits
  cases
  value
  low
  high
}
    ` as unknown as DocumentNode<ShareFragment, unknown>;
export const ArmFragmentDoc = gql`
    fragment Arm on Arm {
  tasks
  blocked
  skipped
  open
  failedChecks
  delivered {
    ...Share
  }
  repeated {
    ...Share
  }
  tokens
  tokensPerTask
}
    ` as unknown as DocumentNode<ArmFragment, unknown>;
export const LiftFragmentDoc = gql`
    fragment Lift on Lift {
  value
  low
  high
  sure
}
    ` as unknown as DocumentNode<LiftFragment, unknown>;
export const HarmFragmentDoc = gql`
    fragment Harm on Harm {
  blocked
  shown
  failed
  unused
  failedShare {
    ...Share
  }
}
    ` as unknown as DocumentNode<HarmFragment, unknown>;
export const PeriodFragmentDoc = gql`
    fragment Period on Period {
  start
  withEnded
  withDelivered
  withoutEnded
  withoutDelivered
  withDeliveredShare {
    ...Share
  }
  withoutDeliveredShare {
    ...Share
  }
  withRepeatedShare {
    ...Share
  }
  withoutRepeatedShare {
    ...Share
  }
  tokens
}
    ` as unknown as DocumentNode<PeriodFragment, unknown>;
export const LeaderFragmentDoc = gql`
    fragment Leader on Leader {
  memoryId
  name
  kind
  shown
  helped
  failed
  unused
  claimed
  withheld
}
    ` as unknown as DocumentNode<LeaderFragment, unknown>;
export const ReportFragmentDoc = gql`
    fragment Report on Report {
  at
  since
  scope
  holdback
  least
  enough
  withMemory {
    ...Arm
  }
  heldBack {
    ...Arm
  }
  undrawn {
    ...Arm
  }
  neither
  delivered {
    ...Lift
  }
  repeated {
    ...Lift
  }
  harm {
    ...Harm
  }
  days
  periods {
    ...Period
  }
  leaders {
    ...Leader
  }
  says
}
    ` as unknown as DocumentNode<ReportFragment, unknown>;
export const SessionReportFragmentDoc = gql`
    fragment SessionReport on SessionReport {
  name
  scope
  agent
  startedAt
  endedAt
  private
  episodes
  id
}
    ` as unknown as DocumentNode<SessionReportFragment, unknown>;
export const SessionReportEdgeFragmentDoc = gql`
    fragment SessionReportEdge on SessionReportEdge {
  cursor
  node {
    ...SessionReport
  }
}
    ` as unknown as DocumentNode<SessionReportEdgeFragment, unknown>;
export const SessionReportConnectionFragmentDoc = gql`
    fragment SessionReportConnection on SessionReportConnection {
  edges {
    ...SessionReportEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<SessionReportConnectionFragment, unknown>;
export const SettingFragmentDoc = gql`
    fragment Setting on Setting {
  name
  value
  source
  variable
  help
}
    ` as unknown as DocumentNode<SettingFragment, unknown>;
export const ShowingFragmentDoc = gql`
    fragment Showing on Showing {
  id
  task
  memoryId
  name
  objective
  session
  at
  arm
  rank
  score
  tokens
  withheld
  outcome
  use
}
    ` as unknown as DocumentNode<ShowingFragment, unknown>;
export const ShowingEdgeFragmentDoc = gql`
    fragment ShowingEdge on ShowingEdge {
  cursor
  node {
    ...Showing
  }
}
    ` as unknown as DocumentNode<ShowingEdgeFragment, unknown>;
export const ShowingConnectionFragmentDoc = gql`
    fragment ShowingConnection on ShowingConnection {
  edges {
    ...ShowingEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<ShowingConnectionFragment, unknown>;
export const SimilarMemoryFragmentDoc = gql`
    fragment SimilarMemory on SimilarMemory {
  memory {
    ...Memory
  }
  similarity
}
    ` as unknown as DocumentNode<SimilarMemoryFragment, unknown>;
export const NamesFragmentDoc = gql`
    fragment Names on Names {
  name
  value
}
    ` as unknown as DocumentNode<NamesFragment, unknown>;
export const StallFragmentDoc = gql`
    fragment Stall on Stall {
  pending
  waiting {
    ...Names
  }
  blocked
  missing
  cycles
}
    ` as unknown as DocumentNode<StallFragment, unknown>;
export const StalledFragmentDoc = gql`
    fragment Stalled on Stalled {
  stalled
  info {
    ...Stall
  }
}
    ` as unknown as DocumentNode<StalledFragment, unknown>;
export const StatsFragmentDoc = gql`
    fragment Stats on Stats {
  total
  byType {
    ...Count
  }
  byStatus {
    ...Count
  }
  totalHelped
  totalFailed
  withFeedback
  withoutFeedback
  overallEffectiveness
  episodes
  entities
  relationships
  embeddingCoverage
}
    ` as unknown as DocumentNode<StatsFragment, unknown>;
export const WorkItemFragmentDoc = gql`
    fragment WorkItem on WorkItem {
  id
  kind
  key
  payload
  state
  attempts
  notBefore
  createdAt
  startedAt
  endedAt
  error
  result {
    ...Count
  }
  changed
}
    ` as unknown as DocumentNode<WorkItemFragment, unknown>;
export const CountsFragmentDoc = gql`
    fragment Counts on Counts {
  name
  value {
    ...Count
  }
}
    ` as unknown as DocumentNode<CountsFragment, unknown>;
export const GateReportFragmentDoc = gql`
    fragment GateReport on GateReport {
  read
  dropped
  dropRate
}
    ` as unknown as DocumentNode<GateReportFragment, unknown>;
export const BackgroundStatusFragmentDoc = gql`
    fragment BackgroundStatus on BackgroundStatus {
  paused
  running {
    ...WorkItem
  }
  progress
  queued
  failed
  lackingVectors
  importance
  budget
  items {
    ...WorkItem
  }
  totals {
    ...Counts
  }
  gate {
    ...GateReport
  }
}
    ` as unknown as DocumentNode<BackgroundStatusFragment, unknown>;
export const ProviderStateFragmentDoc = gql`
    fragment ProviderState on ProviderState {
  model
  free
  ready
  state
  place
  trouble
}
    ` as unknown as DocumentNode<ProviderStateFragment, unknown>;
export const ModelSpendFragmentDoc = gql`
    fragment ModelSpend on ModelSpend {
  month
  provider
  calls
  failures
  tokensIn
  tokensOut
  cost
}
    ` as unknown as DocumentNode<ModelSpendFragment, unknown>;
export const ModelUsageFragmentDoc = gql`
    fragment ModelUsage on ModelUsage {
  budget
  paidTokens
  providers {
    ...ProviderState
  }
  spend {
    ...ModelSpend
  }
  calls
  cacheHits
  absences {
    ...Count
  }
  standing
}
    ` as unknown as DocumentNode<ModelUsageFragment, unknown>;
export const StatusReportFragmentDoc = gql`
    fragment StatusReport on StatusReport {
  version
  store
  mode
  model
  dimension
  journalRows
  appliedSeq
  refused
  diskBytes {
    ...Count
  }
  durability
  journalBytesWeek
  memoryBytes
  paused
  nodes {
    ...Count
  }
  edges
  jobs {
    ...Job
  }
  warnings
  startedAt
  background {
    ...BackgroundStatus
  }
  models {
    ...ModelUsage
  }
  holdback
}
    ` as unknown as DocumentNode<StatusReportFragment, unknown>;
export const StrandDifferenceFragmentDoc = gql`
    fragment StrandDifference on StrandDifference {
  scopes {
    ...Counts
  }
  lines
}
    ` as unknown as DocumentNode<StrandDifferenceFragment, unknown>;
export const StrandTableFragmentDoc = gql`
    fragment StrandTable on StrandTable {
  scope
  table
  rows
  digest
}
    ` as unknown as DocumentNode<StrandTableFragment, unknown>;
export const StrandInfoFragmentDoc = gql`
    fragment StrandInfo on StrandInfo {
  path
  version
  parents
  since
  createdAt
  createdBy
  signer
  knownAs
  trust
  why
  tag
  root
  schema
  model
  opensWith
  scopes
  history
  counts {
    ...Count
  }
  tables {
    ...StrandTable
  }
  verified
}
    ` as unknown as DocumentNode<StrandInfoFragment, unknown>;
export const StrandKeyFragmentDoc = gql`
    fragment StrandKey on StrandKey {
  name
  public
  own
  trust
  since
  revokedAt
}
    ` as unknown as DocumentNode<StrandKeyFragment, unknown>;
export const StrandVersionFragmentDoc = gql`
    fragment StrandVersion on StrandVersion {
  id
  parents
  at
  who
  why
  tag
  root
  scopes
  nodes
  held
}
    ` as unknown as DocumentNode<StrandVersionFragment, unknown>;
export const SyncedPlaceFragmentDoc = gql`
    fragment SyncedPlace on SyncedPlace {
  place
  scopes
  minutes
  at
  error
  problems
}
    ` as unknown as DocumentNode<SyncedPlaceFragment, unknown>;
export const CheckFragmentDoc = gql`
    fragment Check on Check {
  kind
  command
  passed
  exitStatus
  testsPassed
  testsFailed
  commit
  verify
  at
}
    ` as unknown as DocumentNode<CheckFragment, unknown>;
export const GainFragmentDoc = gql`
    fragment Gain on Gain {
  memoryId
  name
  use
  outcome
  helped
  failed
  quality
  signs
  overridden
}
    ` as unknown as DocumentNode<GainFragment, unknown>;
export const TaskOutcomeFragmentDoc = gql`
    fragment TaskOutcome on TaskOutcome {
  task
  outcome
  claimed
  verification
  evidence {
    ...Check
  }
  gains {
    ...Gain
  }
  changed
}
    ` as unknown as DocumentNode<TaskOutcomeFragment, unknown>;
export const TaskFragmentDoc = gql`
    fragment Task on Task {
  id
  scope
  objective
  recordedAt
  status
  outcome
  session
  treatment
  verification
  endedAt
  attributes
}
    ` as unknown as DocumentNode<TaskFragment, unknown>;
export const TaskReportFragmentDoc = gql`
    fragment TaskReport on TaskReport {
  task {
    ...Task
  }
  plan
  waitsFor
  claimed
  evidence {
    ...Check
  }
  showings {
    ...Showing
  }
  learned {
    ...Memory
  }
}
    ` as unknown as DocumentNode<TaskReportFragment, unknown>;
export const TaskStateFragmentDoc = gql`
    fragment TaskState on TaskState {
  executable
  finished
  successful
  outcome
  blocksDependents
}
    ` as unknown as DocumentNode<TaskStateFragment, unknown>;
export const UndoConflictFragmentDoc = gql`
    fragment UndoConflict on UndoConflict {
  what
  by
}
    ` as unknown as DocumentNode<UndoConflictFragment, unknown>;
export const UndoReportFragmentDoc = gql`
    fragment UndoReport on UndoReport {
  job
  restored
  keptOut
  conflicts {
    ...UndoConflict
  }
  dryRun
}
    ` as unknown as DocumentNode<UndoReportFragment, unknown>;
export const VersionFragmentDoc = gql`
    fragment Version on Version {
  seq
  memory {
    ...Memory
  }
  at
  change
  by
  trust
  reason
}
    ` as unknown as DocumentNode<VersionFragment, unknown>;
export const VersionEdgeFragmentDoc = gql`
    fragment VersionEdge on VersionEdge {
  cursor
  node {
    ...Version
  }
}
    ` as unknown as DocumentNode<VersionEdgeFragment, unknown>;
export const VersionConnectionFragmentDoc = gql`
    fragment VersionConnection on VersionConnection {
  edges {
    ...VersionEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<VersionConnectionFragment, unknown>;
export const HeatedNodeFragmentDoc = gql`
    fragment HeatedNode on HeatedNode {
  node {
    ...GraphNode
  }
  heat
}
    ` as unknown as DocumentNode<HeatedNodeFragment, unknown>;
export const WalkFragmentDoc = gql`
    fragment Walk on Walk {
  nodes {
    ...HeatedNode
  }
  edges {
    ...GraphEdge
  }
}
    ` as unknown as DocumentNode<WalkFragment, unknown>;
export const WorkPlanFragmentDoc = gql`
    fragment WorkPlan on WorkPlan {
  kind
  lines
  counts {
    ...Count
  }
  withoutModel
}
    ` as unknown as DocumentNode<WorkPlanFragment, unknown>;
export const WorkspaceFragmentDoc = gql`
    fragment Workspace on Workspace {
  id
  scope
  recordedAt
  status
  endedAt
  attributes
}
    ` as unknown as DocumentNode<WorkspaceFragment, unknown>;
export const WorkspaceReportFragmentDoc = gql`
    fragment WorkspaceReport on WorkspaceReport {
  workspace {
    ...Workspace
  }
  task {
    ...PlanTask
  }
  prompt
  injected {
    ...Shown
  }
  heldBack
  problems
}
    ` as unknown as DocumentNode<WorkspaceReportFragment, unknown>;
export const WorkspaceReportEdgeFragmentDoc = gql`
    fragment WorkspaceReportEdge on WorkspaceReportEdge {
  cursor
  node {
    ...WorkspaceReport
  }
}
    ` as unknown as DocumentNode<WorkspaceReportEdgeFragment, unknown>;
export const WorkspaceReportConnectionFragmentDoc = gql`
    fragment WorkspaceReportConnection on WorkspaceReportConnection {
  edges {
    ...WorkspaceReportEdge
  }
  pageInfo {
    ...PageInfo
  }
  totalCount
}
    ` as unknown as DocumentNode<WorkspaceReportConnectionFragment, unknown>;
export const BackgroundDocument = gql`
    query Background($limit: Int) {
  background(limit: $limit) {
    ...BackgroundStatus
  }
}
    ${BackgroundStatusFragmentDoc}
${WorkItemFragmentDoc}
${CountFragmentDoc}
${CountsFragmentDoc}
${GateReportFragmentDoc}` as unknown as DocumentNode<BackgroundQuery, BackgroundQueryVariables>;
export const WorkDocument = gql`
    query Work($id: ID!) {
  work(id: $id) {
    ...WorkItem
  }
}
    ${WorkItemFragmentDoc}
${CountFragmentDoc}` as unknown as DocumentNode<WorkQuery, WorkQueryVariables>;
export const WorkPlanDocument = gql`
    query WorkPlan($kind: String!, $payload: JSON) {
  workPlan(kind: $kind, payload: $payload) {
    ...WorkPlan
  }
}
    ${WorkPlanFragmentDoc}
${CountFragmentDoc}` as unknown as DocumentNode<WorkPlanQuery, WorkPlanQueryVariables>;
export const EpisodesDocument = gql`
    query Episodes($scope: String, $session: String, $since: DateTime, $until: DateTime, $time: TimeKind, $oldestFirst: Boolean, $first: Int, $after: String) {
  episodes(
    scope: $scope
    session: $session
    since: $since
    until: $until
    time: $time
    oldestFirst: $oldestFirst
    first: $first
    after: $after
  ) {
    ...EpisodeConnection
  }
}
    ${EpisodeConnectionFragmentDoc}
${EpisodeEdgeFragmentDoc}
${EpisodeFragmentDoc}
${ProvenanceFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<EpisodesQuery, EpisodesQueryVariables>;
export const SessionsDocument = gql`
    query Sessions($scope: String, $first: Int, $after: String, $name: String, $since: DateTime, $until: DateTime) {
  sessions(
    scope: $scope
    first: $first
    after: $after
    name: $name
    since: $since
    until: $until
  ) {
    ...SessionReportConnection
  }
}
    ${SessionReportConnectionFragmentDoc}
${SessionReportEdgeFragmentDoc}
${SessionReportFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<SessionsQuery, SessionsQueryVariables>;
export const ExplorerContextDocument = gql`
    query ExplorerContext($objective: String!, $focus: String, $scope: String, $limit: Int, $session: String) {
  explorerContext(
    objective: $objective
    focus: $focus
    scope: $scope
    limit: $limit
    session: $session
  ) {
    ...ExplorerContext
  }
}
    ${ExplorerContextFragmentDoc}
${ShownFragmentDoc}` as unknown as DocumentNode<ExplorerContextQuery, ExplorerContextQueryVariables>;
export const PlannerContextDocument = gql`
    query PlannerContext($objective: String!, $scope: String, $limit: Int, $session: String) {
  plannerContext(
    objective: $objective
    scope: $scope
    limit: $limit
    session: $session
  ) {
    ...PlannerContext
  }
}
    ${PlannerContextFragmentDoc}
${ShownFragmentDoc}` as unknown as DocumentNode<PlannerContextQuery, PlannerContextQueryVariables>;
export const BuilderContextDocument = gql`
    query BuilderContext($objective: String!, $task: String, $files: [String!], $lineage: [JSON!], $warning: String, $limit: Int, $scope: String, $session: String, $noInject: Boolean) {
  builderContext(
    objective: $objective
    task: $task
    files: $files
    lineage: $lineage
    warning: $warning
    limit: $limit
    scope: $scope
    session: $session
    noInject: $noInject
  ) {
    ...BuilderContext
  }
}
    ${BuilderContextFragmentDoc}
${ShownFragmentDoc}` as unknown as DocumentNode<BuilderContextQuery, BuilderContextQueryVariables>;
export const LineageDocument = gql`
    query Lineage($tasks: [JSON!], $plan: ID, $scope: String) {
  lineage(tasks: $tasks, plan: $plan, scope: $scope) {
    ...Delivery
  }
}
    ${DeliveryFragmentDoc}` as unknown as DocumentNode<LineageQuery, LineageQueryVariables>;
export const BriefDocument = gql`
    query Brief($scope: String, $budgetTokens: Int, $without: [String!]) {
  brief(scope: $scope, budgetTokens: $budgetTokens, without: $without) {
    ...Brief
  }
}
    ${BriefFragmentDoc}
${ShownFragmentDoc}` as unknown as DocumentNode<BriefQuery, BriefQueryVariables>;
export const AtActionDocument = gql`
    query AtAction($command: String, $files: [String!], $output: String, $folder: String, $project: String, $scope: String, $limit: Int) {
  atAction(
    command: $command
    files: $files
    output: $output
    folder: $folder
    project: $project
    scope: $scope
    limit: $limit
  ) {
    ...ActionContext
  }
}
    ${ActionContextFragmentDoc}
${SiteFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${ShownFragmentDoc}` as unknown as DocumentNode<AtActionQuery, AtActionQueryVariables>;
export const ErasePlanDocument = gql`
    query ErasePlan($nameOrId: String!) {
  erasePlan(nameOrId: $nameOrId) {
    ...ErasePlan
  }
}
    ${ErasePlanFragmentDoc}
${RefFragmentDoc}
${ErasableFragmentDoc}` as unknown as DocumentNode<ErasePlanQuery, ErasePlanQueryVariables>;
export const CypherDocument = gql`
    query Cypher($query: String!, $params: JSON, $timeoutMs: Int, $limit: Int) {
  cypher(query: $query, params: $params, timeoutMs: $timeoutMs, limit: $limit) {
    ...CypherResult
  }
}
    ${CypherResultFragmentDoc}` as unknown as DocumentNode<CypherQuery, CypherQueryVariables>;
export const GraphSchemaDocument = gql`
    query GraphSchema {
  graphSchema {
    ...GraphTable
  }
}
    ${GraphTableFragmentDoc}` as unknown as DocumentNode<GraphSchemaQuery, GraphSchemaQueryVariables>;
export const NeighbourhoodDocument = gql`
    query Neighbourhood($nameOrId: String!, $steps: Int, $scope: String, $limit: Int) {
  neighbourhood(nameOrId: $nameOrId, steps: $steps, scope: $scope, limit: $limit) {
    ...Neighbourhood
  }
}
    ${NeighbourhoodFragmentDoc}
${GraphNodeFragmentDoc}
${RefFragmentDoc}
${NearNodeFragmentDoc}
${GraphEdgeFragmentDoc}` as unknown as DocumentNode<NeighbourhoodQuery, NeighbourhoodQueryVariables>;
export const FindDocument = gql`
    query Find($text: String!, $labels: [Label!], $limit: Int) {
  find(text: $text, labels: $labels, limit: $limit) {
    ...GraphNode
  }
}
    ${GraphNodeFragmentDoc}
${RefFragmentDoc}` as unknown as DocumentNode<FindQuery, FindQueryVariables>;
export const WalkDocument = gql`
    query Walk($query: String!, $scope: String, $limit: Int) {
  walk(query: $query, scope: $scope, limit: $limit) {
    ...Walk
  }
}
    ${WalkFragmentDoc}
${HeatedNodeFragmentDoc}
${GraphNodeFragmentDoc}
${RefFragmentDoc}
${GraphEdgeFragmentDoc}` as unknown as DocumentNode<WalkQuery, WalkQueryVariables>;
export const PathDocument = gql`
    query Path($source: String!, $target: String!, $scope: String) {
  path(source: $source, target: $target, scope: $scope) {
    ...GraphPath
  }
}
    ${GraphPathFragmentDoc}
${GraphNodeFragmentDoc}
${RefFragmentDoc}
${GraphEdgeFragmentDoc}` as unknown as DocumentNode<PathQuery, PathQueryVariables>;
export const CommunitiesDocument = gql`
    query Communities($scope: String, $least: Int, $limit: Int) {
  communities(scope: $scope, least: $least, limit: $limit) {
    ...Community
  }
}
    ${CommunityFragmentDoc}
${GraphNodeFragmentDoc}
${RefFragmentDoc}` as unknown as DocumentNode<CommunitiesQuery, CommunitiesQueryVariables>;
export const GraphOverviewDocument = gql`
    query GraphOverview($scope: String, $limit: Int) {
  graphOverview(scope: $scope, limit: $limit) {
    ...GraphOverview
  }
}
    ${GraphOverviewFragmentDoc}
${OverviewNodeFragmentDoc}
${GraphNodeFragmentDoc}
${RefFragmentDoc}
${OverviewEdgeFragmentDoc}` as unknown as DocumentNode<GraphOverviewQuery, GraphOverviewQueryVariables>;
export const CommunityDocument = gql`
    query Community($id: String!, $scope: String, $limit: Int) {
  community(id: $id, scope: $scope, limit: $limit) {
    ...CommunityInside
  }
}
    ${CommunityInsideFragmentDoc}
${GraphNodeFragmentDoc}
${RefFragmentDoc}
${GraphEdgeFragmentDoc}` as unknown as DocumentNode<CommunityQuery, CommunityQueryVariables>;
export const CentralityDocument = gql`
    query Centrality($scope: String, $labels: [Label!], $limit: Int) {
  centrality(scope: $scope, labels: $labels, limit: $limit) {
    ...CentralNode
  }
}
    ${CentralNodeFragmentDoc}
${GraphNodeFragmentDoc}
${RefFragmentDoc}` as unknown as DocumentNode<CentralityQuery, CentralityQueryVariables>;
export const LearningQueueDocument = gql`
    query LearningQueue($scope: String, $first: Int, $after: String) {
  learningQueue(scope: $scope, first: $first, after: $after) {
    ...CandidateConnection
  }
}
    ${CandidateConnectionFragmentDoc}
${CandidateEdgeFragmentDoc}
${CandidateFragmentDoc}
${ProvenanceFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<LearningQueueQuery, LearningQueueQueryVariables>;
export const VerifyDocument = gql`
    query Verify($scope: String) {
  verify(scope: $scope) {
    ...LoopHealth
  }
}
    ${LoopHealthFragmentDoc}
${LoopStatsFragmentDoc}
${CountFragmentDoc}` as unknown as DocumentNode<VerifyQuery, VerifyQueryVariables>;
export const ReportDocument = gql`
    query Report($since: DateTime, $scope: String) {
  report(since: $since, scope: $scope) {
    ...Report
  }
}
    ${ReportFragmentDoc}
${ArmFragmentDoc}
${ShareFragmentDoc}
${LiftFragmentDoc}
${HarmFragmentDoc}
${PeriodFragmentDoc}
${LeaderFragmentDoc}` as unknown as DocumentNode<ReportQuery, ReportQueryVariables>;
export const EffectDocument = gql`
    query Effect($nameOrId: String!) {
  effect(nameOrId: $nameOrId) {
    ...MemoryEffect
  }
}
    ${MemoryEffectFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${EffectPeriodFragmentDoc}` as unknown as DocumentNode<EffectQuery, EffectQueryVariables>;
export const ShowingsDocument = gql`
    query Showings($nameOrId: String, $first: Int, $after: String, $session: String, $scope: String) {
  showings(
    nameOrId: $nameOrId
    first: $first
    after: $after
    session: $session
    scope: $scope
  ) {
    ...ShowingConnection
  }
}
    ${ShowingConnectionFragmentDoc}
${ShowingEdgeFragmentDoc}
${ShowingFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<ShowingsQuery, ShowingsQueryVariables>;
export const ReportPageDocument = gql`
    query ReportPage($since: DateTime, $scope: String) {
  reportPage(since: $since, scope: $scope)
}
    ` as unknown as DocumentNode<ReportPageQuery, ReportPageQueryVariables>;
export const ExplorationDocument = gql`
    query Exploration($id: ID, $scope: String) {
  exploration(id: $id, scope: $scope) {
    ...Exploration
  }
}
    ${ExplorationFragmentDoc}` as unknown as DocumentNode<ExplorationQuery, ExplorationQueryVariables>;
export const PlanDocument = gql`
    query Plan($id: ID, $scope: String) {
  plan(id: $id, scope: $scope) {
    ...PlanReport
  }
}
    ${PlanReportFragmentDoc}
${PlanFragmentDoc}
${PlanTaskFragmentDoc}` as unknown as DocumentNode<PlanQuery, PlanQueryVariables>;
export const PlansDocument = gql`
    query Plans($scope: String, $first: Int, $after: String) {
  plans(scope: $scope, first: $first, after: $after) {
    ...PlanConnection
  }
}
    ${PlanConnectionFragmentDoc}
${PlanEdgeFragmentDoc}
${PlanFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<PlansQuery, PlansQueryVariables>;
export const TaskDocument = gql`
    query Task($id: ID!) {
  task(id: $id) {
    ...TaskReport
  }
}
    ${TaskReportFragmentDoc}
${TaskFragmentDoc}
${CheckFragmentDoc}
${ShowingFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<TaskQuery, TaskQueryVariables>;
export const ReadyTasksDocument = gql`
    query ReadyTasks($plan: ID, $scope: String) {
  readyTasks(plan: $plan, scope: $scope) {
    ...PlanTask
  }
}
    ${PlanTaskFragmentDoc}` as unknown as DocumentNode<ReadyTasksQuery, ReadyTasksQueryVariables>;
export const CascadeStatusDocument = gql`
    query CascadeStatus($plan: ID, $scope: String) {
  cascadeStatus(plan: $plan, scope: $scope) {
    ...Cascade
  }
}
    ${CascadeFragmentDoc}` as unknown as DocumentNode<CascadeStatusQuery, CascadeStatusQueryVariables>;
export const WorkspacesDocument = gql`
    query Workspaces($plan: ID, $scope: String, $status: String, $first: Int, $after: String) {
  workspaces(
    plan: $plan
    scope: $scope
    status: $status
    first: $first
    after: $after
  ) {
    ...WorkspaceReportConnection
  }
}
    ${WorkspaceReportConnectionFragmentDoc}
${WorkspaceReportEdgeFragmentDoc}
${WorkspaceReportFragmentDoc}
${WorkspaceFragmentDoc}
${PlanTaskFragmentDoc}
${ShownFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<WorkspacesQuery, WorkspacesQueryVariables>;
export const TaskStateDocument = gql`
    query TaskState($task: JSON!, $others: [JSON!]) {
  taskState(task: $task, others: $others) {
    ...TaskState
  }
}
    ${TaskStateFragmentDoc}` as unknown as DocumentNode<TaskStateQuery, TaskStateQueryVariables>;
export const DagCyclesDocument = gql`
    query DagCycles($dependencies: JSON!) {
  dagCycles(dependencies: $dependencies)
}
    ` as unknown as DocumentNode<DagCyclesQuery, DagCyclesQueryVariables>;
export const DagReadyDocument = gql`
    query DagReady($tasks: [JSON!], $plan: ID, $scope: String) {
  dagReady(tasks: $tasks, plan: $plan, scope: $scope)
}
    ` as unknown as DocumentNode<DagReadyQuery, DagReadyQueryVariables>;
export const DagStalledDocument = gql`
    query DagStalled($tasks: [JSON!], $plan: ID, $scope: String) {
  dagStalled(tasks: $tasks, plan: $plan, scope: $scope) {
    ...Stalled
  }
}
    ${StalledFragmentDoc}
${StallFragmentDoc}
${NamesFragmentDoc}` as unknown as DocumentNode<DagStalledQuery, DagStalledQueryVariables>;
export const GetDocument = gql`
    query Get($nameOrId: String!) {
  get(nameOrId: $nameOrId) {
    ...Memory
  }
}
    ${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<GetQuery, GetQueryVariables>;
export const HistoryDocument = gql`
    query History($nameOrId: String!, $first: Int, $after: String) {
  history(nameOrId: $nameOrId, first: $first, after: $after) {
    ...VersionConnection
  }
}
    ${VersionConnectionFragmentDoc}
${VersionEdgeFragmentDoc}
${VersionFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<HistoryQuery, HistoryQueryVariables>;
export const NodeDocument = gql`
    query Node($id: ID!, $label: Label) {
  node(id: $id, label: $label) {
    ...Node
  }
}
    ${NodeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${EpisodeFragmentDoc}
${ReflectionFragmentDoc}` as unknown as DocumentNode<NodeQuery, NodeQueryVariables>;
export const NodesDocument = gql`
    query Nodes($ids: [ID!]!) {
  nodes(ids: $ids) {
    ...Node
  }
}
    ${NodeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${EpisodeFragmentDoc}
${ReflectionFragmentDoc}` as unknown as DocumentNode<NodesQuery, NodesQueryVariables>;
export const MemoriesDocument = gql`
    query Memories($scope: String, $kinds: [Kind!], $status: [Status!], $anyStatus: Boolean, $trust: [Trust!], $since: DateTime, $until: DateTime, $time: TimeKind, $text: String, $order: MemoryOrder, $first: Int, $after: String) {
  memories(
    scope: $scope
    kinds: $kinds
    status: $status
    anyStatus: $anyStatus
    trust: $trust
    since: $since
    until: $until
    time: $time
    text: $text
    order: $order
    first: $first
    after: $after
  ) {
    ...MemoryConnection
  }
}
    ${MemoryConnectionFragmentDoc}
${MemoryEdgeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<MemoriesQuery, MemoriesQueryVariables>;
export const FacetsDocument = gql`
    query Facets($scope: String, $kinds: [Kind!], $status: [Status!], $anyStatus: Boolean, $trust: [Trust!], $since: DateTime, $until: DateTime, $time: TimeKind, $text: String) {
  facets(
    scope: $scope
    kinds: $kinds
    status: $status
    anyStatus: $anyStatus
    trust: $trust
    since: $since
    until: $until
    time: $time
    text: $text
  ) {
    ...Facets
  }
}
    ${FacetsFragmentDoc}
${FacetFragmentDoc}
${DayFragmentDoc}` as unknown as DocumentNode<FacetsQuery, FacetsQueryVariables>;
export const SimilarRecentDocument = gql`
    query SimilarRecent($trigger: String!, $threshold: Float, $days: Float, $kind: Kind, $scope: String, $limit: Int) {
  similarRecent(
    trigger: $trigger
    threshold: $threshold
    days: $days
    kind: $kind
    scope: $scope
    limit: $limit
  ) {
    ...SimilarMemory
  }
}
    ${SimilarMemoryFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<SimilarRecentQuery, SimilarRecentQueryVariables>;
export const EdgesDocument = gql`
    query Edges($nameOrId: String, $relation: String, $first: Int, $after: String) {
  edges(nameOrId: $nameOrId, relation: $relation, first: $first, after: $after) {
    ...EdgeConnection
  }
}
    ${EdgeConnectionFragmentDoc}
${EdgeEdgeFragmentDoc}
${EdgeFragmentDoc}
${RefFragmentDoc}
${ProvenanceFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<EdgesQuery, EdgesQueryVariables>;
export const SuggestEdgesDocument = gql`
    query SuggestEdges($nameOrId: String!, $limit: Int) {
  suggestEdges(nameOrId: $nameOrId, limit: $limit) {
    ...EdgeSuggestion
  }
}
    ${EdgeSuggestionFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<SuggestEdgesQuery, SuggestEdgesQueryVariables>;
export const RecallDocument = gql`
    query Recall($query: String!, $scope: String, $kinds: [Kind!], $labels: [Label!], $trust: [Trust!], $status: [Status!], $limit: Int, $intent: Intent, $expand: Expand, $files: [String!], $asOf: DateTime, $knownAt: DateTime, $askedAt: DateTime, $since: DateTime, $until: DateTime, $time: TimeKind, $budgetTokens: Int, $recipe: String, $rerank: Boolean, $deep: Boolean, $everything: Boolean, $explain: Boolean, $session: String) {
  recall(
    query: $query
    scope: $scope
    kinds: $kinds
    labels: $labels
    trust: $trust
    status: $status
    limit: $limit
    intent: $intent
    expand: $expand
    files: $files
    asOf: $asOf
    knownAt: $knownAt
    askedAt: $askedAt
    since: $since
    until: $until
    time: $time
    budgetTokens: $budgetTokens
    recipe: $recipe
    rerank: $rerank
    deep: $deep
    everything: $everything
    explain: $explain
    session: $session
  ) {
    ...RecallAnswer
  }
}
    ${RecallAnswerFragmentDoc}
${RecallQueryFragmentDoc}
${RecallItemFragmentDoc}
${NodeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${EpisodeFragmentDoc}
${ReflectionFragmentDoc}
${ArmHitFragmentDoc}
${FigureFragmentDoc}` as unknown as DocumentNode<RecallQuery, RecallQueryVariables>;
export const RecallByTypeDocument = gql`
    query RecallByType($query: String!, $kinds: [Kind!], $limit: Int, $scope: String) {
  recallByType(query: $query, kinds: $kinds, limit: $limit, scope: $scope) {
    ...KindAnswer
  }
}
    ${KindAnswerFragmentDoc}
${RecallAnswerFragmentDoc}
${RecallQueryFragmentDoc}
${RecallItemFragmentDoc}
${NodeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${EpisodeFragmentDoc}
${ReflectionFragmentDoc}
${ArmHitFragmentDoc}
${FigureFragmentDoc}` as unknown as DocumentNode<RecallByTypeQuery, RecallByTypeQueryVariables>;
export const CompletionsDocument = gql`
    query Completions($of: Completable!, $prefix: String, $limit: Int) {
  completions(of: $of, prefix: $prefix, limit: $limit)
}
    ` as unknown as DocumentNode<CompletionsQuery, CompletionsQueryVariables>;
export const LastDocument = gql`
    query Last($session: String) {
  last(session: $session) {
    ...RecallAnswer
  }
}
    ${RecallAnswerFragmentDoc}
${RecallQueryFragmentDoc}
${RecallItemFragmentDoc}
${NodeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${EpisodeFragmentDoc}
${ReflectionFragmentDoc}
${ArmHitFragmentDoc}
${FigureFragmentDoc}` as unknown as DocumentNode<LastQuery, LastQueryVariables>;
export const WhyDocument = gql`
    query Why($nameOrId: String!, $session: String) {
  why(nameOrId: $nameOrId, session: $session) {
    ...RecallItem
  }
}
    ${RecallItemFragmentDoc}
${NodeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${EpisodeFragmentDoc}
${ReflectionFragmentDoc}
${ArmHitFragmentDoc}
${FigureFragmentDoc}` as unknown as DocumentNode<WhyQuery, WhyQueryVariables>;
export const ContradictionsDocument = gql`
    query Contradictions($scope: String, $status: DisputeStatus, $anyStatus: Boolean, $first: Int, $after: String) {
  contradictions(
    scope: $scope
    status: $status
    anyStatus: $anyStatus
    first: $first
    after: $after
  ) {
    ...DisputeConnection
  }
}
    ${DisputeConnectionFragmentDoc}
${DisputeEdgeFragmentDoc}
${DisputeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<ContradictionsQuery, ContradictionsQueryVariables>;
export const InboxDocument = gql`
    query Inbox($scope: String) {
  inbox(scope: $scope) {
    ...Inbox
  }
}
    ${InboxFragmentDoc}` as unknown as DocumentNode<InboxQuery, InboxQueryVariables>;
export const DuplicatesDocument = gql`
    query Duplicates($scope: String, $threshold: Float, $first: Int, $after: String) {
  duplicates(scope: $scope, threshold: $threshold, first: $first, after: $after) {
    ...DuplicateConnection
  }
}
    ${DuplicateConnectionFragmentDoc}
${DuplicateEdgeFragmentDoc}
${DuplicateFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<DuplicatesQuery, DuplicatesQueryVariables>;
export const ReviewDocument = gql`
    query Review($scope: String, $first: Int, $after: String) {
  review(scope: $scope, first: $first, after: $after) {
    ...HeldConnection
  }
}
    ${HeldConnectionFragmentDoc}
${HeldEdgeFragmentDoc}
${HeldFragmentDoc}
${RefFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<ReviewQuery, ReviewQueryVariables>;
export const ReflectionsDocument = gql`
    query Reflections($scope: String, $first: Int, $after: String) {
  reflections(scope: $scope, first: $first, after: $after) {
    ...ReflectionConnection
  }
}
    ${ReflectionConnectionFragmentDoc}
${ReflectionEdgeFragmentDoc}
${ReflectionFragmentDoc}
${ProvenanceFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<ReflectionsQuery, ReflectionsQueryVariables>;
export const InsightTreeDocument = gql`
    query InsightTree($id: ID!) {
  insightTree(id: $id) {
    ...Insight
  }
}
    ${InsightFragmentDoc}
${ReflectionFragmentDoc}
${ProvenanceFragmentDoc}
${EvidenceFragmentDoc}
${RefFragmentDoc}` as unknown as DocumentNode<InsightTreeQuery, InsightTreeQueryVariables>;
export const KeysDocument = gql`
    query Keys {
  keys {
    ...StrandKey
  }
}
    ${StrandKeyFragmentDoc}` as unknown as DocumentNode<KeysQuery, KeysQueryVariables>;
export const SharesDocument = gql`
    query Shares {
  shares {
    ...MemoryShare
  }
}
    ${MemoryShareFragmentDoc}` as unknown as DocumentNode<SharesQuery, SharesQueryVariables>;
export const InspectStrandDocument = gql`
    query InspectStrand($path: String!, $verify: Boolean) {
  inspectStrand(path: $path, verify: $verify) {
    ...StrandInfo
  }
}
    ${StrandInfoFragmentDoc}
${CountFragmentDoc}
${StrandTableFragmentDoc}` as unknown as DocumentNode<InspectStrandQuery, InspectStrandQueryVariables>;
export const StrandLogDocument = gql`
    query StrandLog($limit: Int) {
  strandLog(limit: $limit) {
    ...StrandVersion
  }
}
    ${StrandVersionFragmentDoc}` as unknown as DocumentNode<StrandLogQuery, StrandLogQueryVariables>;
export const SyncedPlacesDocument = gql`
    query SyncedPlaces {
  syncedPlaces {
    ...SyncedPlace
  }
}
    ${SyncedPlaceFragmentDoc}` as unknown as DocumentNode<SyncedPlacesQuery, SyncedPlacesQueryVariables>;
export const HealthDocument = gql`
    query Health {
  health {
    ...Health
  }
}
    ${HealthFragmentDoc}
${CountFragmentDoc}` as unknown as DocumentNode<HealthQuery, HealthQueryVariables>;
export const StatsDocument = gql`
    query Stats($scope: String) {
  stats(scope: $scope) {
    ...Stats
  }
}
    ${StatsFragmentDoc}
${CountFragmentDoc}` as unknown as DocumentNode<StatsQuery, StatsQueryVariables>;
export const StatusDocument = gql`
    query Status {
  status {
    ...StatusReport
  }
}
    ${StatusReportFragmentDoc}
${CountFragmentDoc}
${JobFragmentDoc}
${BackgroundStatusFragmentDoc}
${WorkItemFragmentDoc}
${CountsFragmentDoc}
${GateReportFragmentDoc}
${ModelUsageFragmentDoc}
${ProviderStateFragmentDoc}
${ModelSpendFragmentDoc}` as unknown as DocumentNode<StatusQuery, StatusQueryVariables>;
export const DoctorDocument = gql`
    query Doctor {
  doctor {
    ...DoctorReport
  }
}
    ${DoctorReportFragmentDoc}
${DoctorFindingFragmentDoc}` as unknown as DocumentNode<DoctorQuery, DoctorQueryVariables>;
export const ConfigDocument = gql`
    query Config {
  config {
    ...Setting
  }
}
    ${SettingFragmentDoc}` as unknown as DocumentNode<ConfigQuery, ConfigQueryVariables>;
export const AgentsDocument = gql`
    query Agents($project: String) {
  agents(project: $project) {
    ...AgentConnection
  }
}
    ${AgentConnectionFragmentDoc}` as unknown as DocumentNode<AgentsQuery, AgentsQueryVariables>;
export const LogsDocument = gql`
    query Logs($lines: Int) {
  logs(lines: $lines) {
    ...LogLine
  }
}
    ${LogLineFragmentDoc}` as unknown as DocumentNode<LogsQuery, LogsQueryVariables>;
export const JobDocument = gql`
    query Job($id: ID!) {
  job(id: $id) {
    ...Job
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<JobQuery, JobQueryVariables>;
export const JobsDocument = gql`
    query Jobs($first: Int, $after: String) {
  jobs(first: $first, after: $after) {
    ...JobConnection
  }
}
    ${JobConnectionFragmentDoc}
${JobEdgeFragmentDoc}
${JobFragmentDoc}
${PageInfoFragmentDoc}` as unknown as DocumentNode<JobsQuery, JobsQueryVariables>;
export const FlushDocument = gql`
    mutation Flush($scope: String) {
  flush(input: {scope: $scope}) {
    result {
      ...WorkItem
    }
  }
}
    ${WorkItemFragmentDoc}
${CountFragmentDoc}` as unknown as DocumentNode<FlushMutation, FlushMutationVariables>;
export const BeginWorkDocument = gql`
    mutation BeginWork($kind: String!, $payload: JSON) {
  beginWork(input: {kind: $kind, payload: $payload}) {
    result {
      ...WorkItem
    }
  }
}
    ${WorkItemFragmentDoc}
${CountFragmentDoc}` as unknown as DocumentNode<BeginWorkMutation, BeginWorkMutationVariables>;
export const CancelWorkDocument = gql`
    mutation CancelWork($id: ID!) {
  cancelWork(input: {id: $id}) {
    result {
      ...WorkItem
    }
  }
}
    ${WorkItemFragmentDoc}
${CountFragmentDoc}` as unknown as DocumentNode<CancelWorkMutation, CancelWorkMutationVariables>;
export const PauseWorkerDocument = gql`
    mutation PauseWorker($on: Boolean) {
  pauseWorker(input: {on: $on}) {
    result
  }
}
    ` as unknown as DocumentNode<PauseWorkerMutation, PauseWorkerMutationVariables>;
export const UndoDocument = gql`
    mutation Undo($job: ID!, $dryRun: Boolean) {
  undo(input: {job: $job, dryRun: $dryRun}) {
    result {
      ...UndoReport
    }
  }
}
    ${UndoReportFragmentDoc}
${UndoConflictFragmentDoc}` as unknown as DocumentNode<UndoMutation, UndoMutationVariables>;
export const RecordEpisodeDocument = gql`
    mutation RecordEpisode($content: String!, $session: String, $scope: String, $agent: String, $role: String, $occurredAt: DateTime, $source: String, $importance: Float, $trust: Trust, $files: [String!], $project: String, $idempotencyKey: String) {
  recordEpisode(
    input: {content: $content, session: $session, scope: $scope, agent: $agent, role: $role, occurredAt: $occurredAt, source: $source, importance: $importance, trust: $trust, files: $files, project: $project, idempotencyKey: $idempotencyKey}
  ) {
    result {
      ...Recording
    }
  }
}
    ${RecordingFragmentDoc}
${EpisodeFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<RecordEpisodeMutation, RecordEpisodeMutationVariables>;
export const OpenSessionDocument = gql`
    mutation OpenSession($name: String, $scope: String, $agent: String, $private: Boolean, $idempotencyKey: String) {
  openSession(
    input: {name: $name, scope: $scope, agent: $agent, private: $private, idempotencyKey: $idempotencyKey}
  ) {
    result {
      ...SessionReport
    }
  }
}
    ${SessionReportFragmentDoc}` as unknown as DocumentNode<OpenSessionMutation, OpenSessionMutationVariables>;
export const CloseSessionDocument = gql`
    mutation CloseSession($name: String!, $scope: String, $idempotencyKey: String) {
  closeSession(
    input: {name: $name, scope: $scope, idempotencyKey: $idempotencyKey}
  ) {
    result {
      ...SessionReport
    }
  }
}
    ${SessionReportFragmentDoc}` as unknown as DocumentNode<CloseSessionMutation, CloseSessionMutationVariables>;
export const PauseDocument = gql`
    mutation Pause($on: Boolean) {
  pause(input: {on: $on}) {
    result
  }
}
    ` as unknown as DocumentNode<PauseMutation, PauseMutationVariables>;
export const HardForgetDocument = gql`
    mutation HardForget($nameOrId: String!, $confirm: ID!) {
  hardForget(input: {nameOrId: $nameOrId, confirm: $confirm}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<HardForgetMutation, HardForgetMutationVariables>;
export const ScanSecretsDocument = gql`
    mutation ScanSecrets($apply: Boolean) {
  scanSecrets(input: {apply: $apply}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<ScanSecretsMutation, ScanSecretsMutationVariables>;
export const ExportJsonlDocument = gql`
    mutation ExportJsonl($path: String!) {
  exportJsonl(input: {path: $path}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<ExportJsonlMutation, ExportJsonlMutationVariables>;
export const ExportGraphmlDocument = gql`
    mutation ExportGraphml($path: String!) {
  exportGraphml(input: {path: $path}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<ExportGraphmlMutation, ExportGraphmlMutationVariables>;
export const ExportMarkdownDocument = gql`
    mutation ExportMarkdown($path: String!) {
  exportMarkdown(input: {path: $path}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<ExportMarkdownMutation, ExportMarkdownMutationVariables>;
export const IngestGitDocument = gql`
    mutation IngestGit($path: String!, $scope: String, $limit: Int) {
  ingestGit(input: {path: $path, scope: $scope, limit: $limit}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<IngestGitMutation, IngestGitMutationVariables>;
export const IngestNotesDocument = gql`
    mutation IngestNotes($paths: [String!]!, $scope: String, $mine: Boolean) {
  ingestNotes(input: {paths: $paths, scope: $scope, mine: $mine}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<IngestNotesMutation, IngestNotesMutationVariables>;
export const IngestTranscriptDocument = gql`
    mutation IngestTranscript($path: String!, $scope: String, $agent: String) {
  ingestTranscript(input: {path: $path, scope: $scope, agent: $agent}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<IngestTranscriptMutation, IngestTranscriptMutationVariables>;
export const IngestJsonlDocument = gql`
    mutation IngestJsonl($lines: [String!]!, $firstLine: Int, $scope: String, $source: String, $agent: String) {
  ingestJsonl(
    input: {lines: $lines, firstLine: $firstLine, scope: $scope, source: $source, agent: $agent}
  ) {
    result {
      ...IngestReport
    }
  }
}
    ${IngestReportFragmentDoc}
${IngestProblemFragmentDoc}` as unknown as DocumentNode<IngestJsonlMutation, IngestJsonlMutationVariables>;
export const IngestBulkDocument = gql`
    mutation IngestBulk($path: String!, $vectors: String, $scope: String, $source: String, $agent: String) {
  ingestBulk(
    input: {path: $path, vectors: $vectors, scope: $scope, source: $source, agent: $agent}
  ) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<IngestBulkMutation, IngestBulkMutationVariables>;
export const ImportMemoriesDocument = gql`
    mutation ImportMemories($path: String!, $source: String, $scope: String, $plan: Boolean, $mine: Boolean, $agent: String) {
  importMemories(
    input: {path: $path, source: $source, scope: $scope, plan: $plan, mine: $mine, agent: $agent}
  ) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<ImportMemoriesMutation, ImportMemoriesMutationVariables>;
export const ObserveExplorerDocument = gql`
    mutation ObserveExplorer($store: Boolean, $queue: Boolean, $minConfidence: Certainty, $scope: String, $session: String, $taskId: String, $agent: String, $source: String, $output: String!) {
  observeExplorer(
    input: {store: $store, queue: $queue, minConfidence: $minConfidence, scope: $scope, session: $session, taskId: $taskId, agent: $agent, source: $source, output: $output}
  ) {
    result {
      ...Observed
    }
  }
}
    ${ObservedFragmentDoc}
${CandidateFragmentDoc}
${ProvenanceFragmentDoc}
${StoreResultFragmentDoc}` as unknown as DocumentNode<ObserveExplorerMutation, ObserveExplorerMutationVariables>;
export const ObservePlannerDocument = gql`
    mutation ObservePlanner($store: Boolean, $queue: Boolean, $minConfidence: Certainty, $scope: String, $session: String, $taskId: String, $agent: String, $source: String, $tasks: [JSON!]!, $exploration: JSON, $learned: [String!]) {
  observePlanner(
    input: {store: $store, queue: $queue, minConfidence: $minConfidence, scope: $scope, session: $session, taskId: $taskId, agent: $agent, source: $source, tasks: $tasks, exploration: $exploration, learned: $learned}
  ) {
    result {
      ...Observed
    }
  }
}
    ${ObservedFragmentDoc}
${CandidateFragmentDoc}
${ProvenanceFragmentDoc}
${StoreResultFragmentDoc}` as unknown as DocumentNode<ObservePlannerMutation, ObservePlannerMutationVariables>;
export const ObserveBuilderDocument = gql`
    mutation ObserveBuilder($store: Boolean, $queue: Boolean, $minConfidence: Certainty, $scope: String, $session: String, $taskId: String, $agent: String, $source: String, $task: JSON!, $result: String, $filesChanged: [String!]) {
  observeBuilder(
    input: {store: $store, queue: $queue, minConfidence: $minConfidence, scope: $scope, session: $session, taskId: $taskId, agent: $agent, source: $source, task: $task, result: $result, filesChanged: $filesChanged}
  ) {
    result {
      ...Observed
    }
  }
}
    ${ObservedFragmentDoc}
${CandidateFragmentDoc}
${ProvenanceFragmentDoc}
${StoreResultFragmentDoc}` as unknown as DocumentNode<ObserveBuilderMutation, ObserveBuilderMutationVariables>;
export const ObserveSessionDocument = gql`
    mutation ObserveSession($store: Boolean, $queue: Boolean, $minConfidence: Certainty, $scope: String, $session: String, $taskId: String, $agent: String, $source: String, $objective: String!, $tasks: [JSON!], $outcomes: JSON) {
  observeSession(
    input: {store: $store, queue: $queue, minConfidence: $minConfidence, scope: $scope, session: $session, taskId: $taskId, agent: $agent, source: $source, objective: $objective, tasks: $tasks, outcomes: $outcomes}
  ) {
    result {
      ...Observed
    }
  }
}
    ${ObservedFragmentDoc}
${CandidateFragmentDoc}
${ProvenanceFragmentDoc}
${StoreResultFragmentDoc}` as unknown as DocumentNode<ObserveSessionMutation, ObserveSessionMutationVariables>;
export const AcceptCandidateDocument = gql`
    mutation AcceptCandidate($id: ID!, $by: String) {
  acceptCandidate(input: {id: $id, by: $by}) {
    result {
      ...Accepted
    }
  }
}
    ${AcceptedFragmentDoc}
${CandidateFragmentDoc}
${ProvenanceFragmentDoc}
${StoreResultFragmentDoc}` as unknown as DocumentNode<AcceptCandidateMutation, AcceptCandidateMutationVariables>;
export const RejectCandidateDocument = gql`
    mutation RejectCandidate($id: ID!, $by: String) {
  rejectCandidate(input: {id: $id, by: $by}) {
    result {
      ...Candidate
    }
  }
}
    ${CandidateFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<RejectCandidateMutation, RejectCandidateMutationVariables>;
export const ReopenCandidateDocument = gql`
    mutation ReopenCandidate($id: ID!) {
  reopenCandidate(input: {id: $id}) {
    result {
      ...Candidate
    }
  }
}
    ${CandidateFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<ReopenCandidateMutation, ReopenCandidateMutationVariables>;
export const ChunkDocument = gql`
    mutation Chunk($task: String!, $outcome: String!, $approach: String!, $scope: String, $taskId: String, $agent: String, $source: String, $idempotencyKey: String) {
  chunk(
    input: {task: $task, outcome: $outcome, approach: $approach, scope: $scope, taskId: $taskId, agent: $agent, source: $source, idempotencyKey: $idempotencyKey}
  ) {
    result {
      ...StoreResult
    }
  }
}
    ${StoreResultFragmentDoc}` as unknown as DocumentNode<ChunkMutation, ChunkMutationVariables>;
export const SaveExplorationDocument = gql`
    mutation SaveExploration($answer: String!, $objective: String, $scope: String, $session: String) {
  saveExploration(
    input: {answer: $answer, objective: $objective, scope: $scope, session: $session}
  ) {
    result {
      ...ExplorationReport
    }
  }
}
    ${ExplorationReportFragmentDoc}
${ExplorationFragmentDoc}` as unknown as DocumentNode<SaveExplorationMutation, SaveExplorationMutationVariables>;
export const SavePlanDocument = gql`
    mutation SavePlan($answer: String!, $objective: String, $scope: String, $session: String, $exploration: ID) {
  savePlan(
    input: {answer: $answer, objective: $objective, scope: $scope, session: $session, exploration: $exploration}
  ) {
    result {
      ...PlanReport
    }
  }
}
    ${PlanReportFragmentDoc}
${PlanFragmentDoc}
${PlanTaskFragmentDoc}` as unknown as DocumentNode<SavePlanMutation, SavePlanMutationVariables>;
export const CompletePlanDocument = gql`
    mutation CompletePlan($plan: ID, $scope: String) {
  completePlan(input: {plan: $plan, scope: $scope}) {
    result {
      ...PlanReport
    }
  }
}
    ${PlanReportFragmentDoc}
${PlanFragmentDoc}
${PlanTaskFragmentDoc}` as unknown as DocumentNode<CompletePlanMutation, CompletePlanMutationVariables>;
export const CreateWorkspaceDocument = gql`
    mutation CreateWorkspace($task: String!, $plan: ID, $scope: String, $warning: String, $limit: Int) {
  createWorkspace(
    input: {task: $task, plan: $plan, scope: $scope, warning: $warning, limit: $limit}
  ) {
    result {
      ...WorkspaceReport
    }
  }
}
    ${WorkspaceReportFragmentDoc}
${WorkspaceFragmentDoc}
${PlanTaskFragmentDoc}
${ShownFragmentDoc}` as unknown as DocumentNode<CreateWorkspaceMutation, CreateWorkspaceMutationVariables>;
export const CompleteWorkspaceDocument = gql`
    mutation CompleteWorkspace($id: ID!, $delivered: String!, $utilized: [String!]) {
  completeWorkspace(input: {id: $id, delivered: $delivered, utilized: $utilized}) {
    result {
      ...WorkspaceReport
    }
  }
}
    ${WorkspaceReportFragmentDoc}
${WorkspaceFragmentDoc}
${PlanTaskFragmentDoc}
${ShownFragmentDoc}` as unknown as DocumentNode<CompleteWorkspaceMutation, CompleteWorkspaceMutationVariables>;
export const BlockWorkspaceDocument = gql`
    mutation BlockWorkspace($id: ID!, $reason: String!, $tried: String, $error: String, $utilized: [String!]) {
  blockWorkspace(
    input: {id: $id, reason: $reason, tried: $tried, error: $error, utilized: $utilized}
  ) {
    result {
      ...WorkspaceReport
    }
  }
}
    ${WorkspaceReportFragmentDoc}
${WorkspaceFragmentDoc}
${PlanTaskFragmentDoc}
${ShownFragmentDoc}` as unknown as DocumentNode<BlockWorkspaceMutation, BlockWorkspaceMutationVariables>;
export const DagClearDocument = gql`
    mutation DagClear($tasks: [JSON!], $plan: ID, $scope: String, $session: String, $force: Boolean) {
  dagClear(
    input: {tasks: $tasks, plan: $plan, scope: $scope, session: $session, force: $force}
  ) {
    result {
      ...Cleared
    }
  }
}
    ${ClearedFragmentDoc}` as unknown as DocumentNode<DagClearMutation, DagClearMutationVariables>;
export const TaskOutcomeDocument = gql`
    mutation TaskOutcome($task: ID!, $outcome: String!, $claimed: Boolean, $utilized: [String!], $agent: String, $idempotencyKey: String) {
  taskOutcome(
    input: {task: $task, outcome: $outcome, claimed: $claimed, utilized: $utilized, agent: $agent, idempotencyKey: $idempotencyKey}
  ) {
    result {
      ...TaskOutcome
    }
  }
}
    ${TaskOutcomeFragmentDoc}
${CheckFragmentDoc}
${GainFragmentDoc}` as unknown as DocumentNode<TaskOutcomeMutation, TaskOutcomeMutationVariables>;
export const NoteActionDocument = gql`
    mutation NoteAction($task: ID!, $command: String, $files: [String!], $exitStatus: Int, $output: String, $id: String, $idempotencyKey: String) {
  noteAction(
    input: {task: $task, command: $command, files: $files, exitStatus: $exitStatus, output: $output, id: $id, idempotencyKey: $idempotencyKey}
  ) {
    result {
      ...Check
    }
  }
}
    ${CheckFragmentDoc}` as unknown as DocumentNode<NoteActionMutation, NoteActionMutationVariables>;
export const StoreDocument = gql`
    mutation Store($trigger: String!, $resolution: String!, $kind: Kind!, $scope: String, $name: String, $confidence: Float, $importance: Float, $files: [String!], $trust: Trust, $source: String, $agent: String, $session: String, $validFrom: DateTime, $validTo: DateTime, $attributes: JSON, $idempotencyKey: String) {
  store(
    input: {trigger: $trigger, resolution: $resolution, kind: $kind, scope: $scope, name: $name, confidence: $confidence, importance: $importance, files: $files, trust: $trust, source: $source, agent: $agent, session: $session, validFrom: $validFrom, validTo: $validTo, attributes: $attributes, idempotencyKey: $idempotencyKey}
  ) {
    result {
      ...StoreResult
    }
  }
}
    ${StoreResultFragmentDoc}` as unknown as DocumentNode<StoreMutation, StoreMutationVariables>;
export const EditDocument = gql`
    mutation Edit($nameOrId: String!, $trigger: String, $resolution: String, $kind: Kind, $name: String, $scope: String, $confidence: Float, $importance: Float, $validFrom: DateTime, $validTo: DateTime, $agent: String, $idempotencyKey: String) {
  edit(
    input: {nameOrId: $nameOrId, trigger: $trigger, resolution: $resolution, kind: $kind, name: $name, scope: $scope, confidence: $confidence, importance: $importance, validFrom: $validFrom, validTo: $validTo, agent: $agent, idempotencyKey: $idempotencyKey}
  ) {
    result {
      ...Memory
    }
  }
}
    ${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<EditMutation, EditMutationVariables>;
export const ForgetDocument = gql`
    mutation Forget($nameOrId: String!, $idempotencyKey: String) {
  forget(input: {nameOrId: $nameOrId, idempotencyKey: $idempotencyKey}) {
    result {
      ...Memory
    }
  }
}
    ${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<ForgetMutation, ForgetMutationVariables>;
export const RestoreDocument = gql`
    mutation Restore($nameOrId: String!, $idempotencyKey: String) {
  restore(input: {nameOrId: $nameOrId, idempotencyKey: $idempotencyKey}) {
    result {
      ...Memory
    }
  }
}
    ${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<RestoreMutation, RestoreMutationVariables>;
export const ConfirmDocument = gql`
    mutation Confirm($nameOrId: String!, $idempotencyKey: String) {
  confirm(input: {nameOrId: $nameOrId, idempotencyKey: $idempotencyKey}) {
    result {
      ...Memory
    }
  }
}
    ${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<ConfirmMutation, ConfirmMutationVariables>;
export const RevertDocument = gql`
    mutation Revert($nameOrId: String!) {
  revert(input: {nameOrId: $nameOrId}) {
    result {
      ...Memory
    }
  }
}
    ${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<RevertMutation, RevertMutationVariables>;
export const UnmergeDocument = gql`
    mutation Unmerge($nameOrId: String!) {
  unmerge(input: {nameOrId: $nameOrId}) {
    result {
      ...Memory
    }
  }
}
    ${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<UnmergeMutation, UnmergeMutationVariables>;
export const EdgeDocument = gql`
    mutation Edge($source: String!, $target: String!, $relation: String!, $weight: Float, $agent: String, $undo: Boolean, $idempotencyKey: String) {
  edge(
    input: {source: $source, target: $target, relation: $relation, weight: $weight, agent: $agent, undo: $undo, idempotencyKey: $idempotencyKey}
  ) {
    result {
      ...Edge
    }
  }
}
    ${EdgeFragmentDoc}
${RefFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<EdgeMutation, EdgeMutationVariables>;
export const FeedbackDocument = gql`
    mutation Feedback($names: [String!]!, $delta: Float, $quality: Int, $task: ID, $agent: String, $undo: Boolean, $idempotencyKey: String) {
  feedback(
    input: {names: $names, delta: $delta, quality: $quality, task: $task, agent: $agent, undo: $undo, idempotencyKey: $idempotencyKey}
  ) {
    result {
      ...Memory
    }
  }
}
    ${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<FeedbackMutation, FeedbackMutationVariables>;
export const DecayDocument = gql`
    mutation Decay($unusedDays: Float, $minUses: Int, $dryRun: Boolean) {
  decay(input: {unusedDays: $unusedDays, minUses: $minUses, dryRun: $dryRun}) {
    result {
      ...MaintenanceReport
    }
  }
}
    ${MaintenanceReportFragmentDoc}` as unknown as DocumentNode<DecayMutation, DecayMutationVariables>;
export const DecayEdgesDocument = gql`
    mutation DecayEdges($unusedDays: Float, $dryRun: Boolean) {
  decayEdges(input: {unusedDays: $unusedDays, dryRun: $dryRun}) {
    result {
      ...MaintenanceReport
    }
  }
}
    ${MaintenanceReportFragmentDoc}` as unknown as DocumentNode<DecayEdgesMutation, DecayEdgesMutationVariables>;
export const PruneDocument = gql`
    mutation Prune($minEffectiveness: Float, $minUses: Int, $dryRun: Boolean) {
  prune(
    input: {minEffectiveness: $minEffectiveness, minUses: $minUses, dryRun: $dryRun}
  ) {
    result {
      ...MaintenanceReport
    }
  }
}
    ${MaintenanceReportFragmentDoc}` as unknown as DocumentNode<PruneMutation, PruneMutationVariables>;
export const ResolveContradictionDocument = gql`
    mutation ResolveContradiction($a: String!, $b: String!, $winner: String!, $note: String) {
  resolveContradiction(input: {a: $a, b: $b, winner: $winner, note: $note}) {
    result {
      ...Dispute
    }
  }
}
    ${DisputeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<ResolveContradictionMutation, ResolveContradictionMutationVariables>;
export const ReopenContradictionDocument = gql`
    mutation ReopenContradiction($a: String!, $b: String!) {
  reopenContradiction(input: {a: $a, b: $b}) {
    result {
      ...Dispute
    }
  }
}
    ${DisputeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<ReopenContradictionMutation, ReopenContradictionMutationVariables>;
export const SettleDuplicateDocument = gql`
    mutation SettleDuplicate($a: String!, $b: String!, $winner: String!) {
  settleDuplicate(input: {a: $a, b: $b, winner: $winner}) {
    result {
      ...Memory
    }
  }
}
    ${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<SettleDuplicateMutation, SettleDuplicateMutationVariables>;
export const ReopenDuplicateDocument = gql`
    mutation ReopenDuplicate($a: String!, $b: String!) {
  reopenDuplicate(input: {a: $a, b: $b}) {
    result {
      ...Memory
    }
  }
}
    ${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<ReopenDuplicateMutation, ReopenDuplicateMutationVariables>;
export const NoteGapDocument = gql`
    mutation NoteGap($session: String, $agent: String, $idempotencyKey: String) {
  noteGap(
    input: {session: $session, agent: $agent, idempotencyKey: $idempotencyKey}
  ) {
    result {
      ...StoreResult
    }
  }
}
    ${StoreResultFragmentDoc}` as unknown as DocumentNode<NoteGapMutation, NoteGapMutationVariables>;
export const ReopenGapDocument = gql`
    mutation ReopenGap($nameOrId: String!) {
  reopenGap(input: {nameOrId: $nameOrId}) {
    result {
      ...Memory
    }
  }
}
    ${MemoryFragmentDoc}
${ProvenanceFragmentDoc}` as unknown as DocumentNode<ReopenGapMutation, ReopenGapMutationVariables>;
export const AcceptDocument = gql`
    mutation Accept($nameOrId: String!, $by: String, $idempotencyKey: String) {
  accept(input: {nameOrId: $nameOrId, by: $by, idempotencyKey: $idempotencyKey}) {
    result {
      ...Node
    }
  }
}
    ${NodeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${EpisodeFragmentDoc}
${ReflectionFragmentDoc}` as unknown as DocumentNode<AcceptMutation, AcceptMutationVariables>;
export const RejectDocument = gql`
    mutation Reject($nameOrId: String!, $by: String, $idempotencyKey: String) {
  reject(input: {nameOrId: $nameOrId, by: $by, idempotencyKey: $idempotencyKey}) {
    result {
      ...Node
    }
  }
}
    ${NodeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${EpisodeFragmentDoc}
${ReflectionFragmentDoc}` as unknown as DocumentNode<RejectMutation, RejectMutationVariables>;
export const HoldDocument = gql`
    mutation Hold($nameOrId: String!, $by: String, $idempotencyKey: String) {
  hold(input: {nameOrId: $nameOrId, by: $by, idempotencyKey: $idempotencyKey}) {
    result {
      ...Node
    }
  }
}
    ${NodeFragmentDoc}
${MemoryFragmentDoc}
${ProvenanceFragmentDoc}
${EpisodeFragmentDoc}
${ReflectionFragmentDoc}` as unknown as DocumentNode<HoldMutation, HoldMutationVariables>;
export const NewKeyDocument = gql`
    mutation NewKey($name: String!) {
  newKey(input: {name: $name}) {
    result {
      ...StrandKey
    }
  }
}
    ${StrandKeyFragmentDoc}` as unknown as DocumentNode<NewKeyMutation, NewKeyMutationVariables>;
export const ImportKeyDocument = gql`
    mutation ImportKey($name: String!, $public: String!) {
  importKey(input: {name: $name, public: $public}) {
    result {
      ...StrandKey
    }
  }
}
    ${StrandKeyFragmentDoc}` as unknown as DocumentNode<ImportKeyMutation, ImportKeyMutationVariables>;
export const TrustKeyDocument = gql`
    mutation TrustKey($name: String!, $trust: Trust!) {
  trustKey(input: {name: $name, trust: $trust}) {
    result {
      ...StrandKey
    }
  }
}
    ${StrandKeyFragmentDoc}` as unknown as DocumentNode<TrustKeyMutation, TrustKeyMutationVariables>;
export const RevokeKeyDocument = gql`
    mutation RevokeKey($name: String!) {
  revokeKey(input: {name: $name}) {
    result {
      ...StrandKey
    }
  }
}
    ${StrandKeyFragmentDoc}` as unknown as DocumentNode<RevokeKeyMutation, RevokeKeyMutationVariables>;
export const NewShareDocument = gql`
    mutation NewShare($key: String!, $scopes: [String!]!, $name: String, $write: Boolean) {
  newShare(input: {key: $key, scopes: $scopes, name: $name, write: $write}) {
    result {
      ...MemoryShare
    }
  }
}
    ${MemoryShareFragmentDoc}` as unknown as DocumentNode<NewShareMutation, NewShareMutationVariables>;
export const RevokeShareDocument = gql`
    mutation RevokeShare($name: String!) {
  revokeShare(input: {name: $name}) {
    result {
      ...MemoryShare
    }
  }
}
    ${MemoryShareFragmentDoc}` as unknown as DocumentNode<RevokeShareMutation, RevokeShareMutationVariables>;
export const ExportStrandDocument = gql`
    mutation ExportStrand($path: String!, $scopes: [String!], $query: String, $since: String, $history: String, $withVectors: Boolean, $passphrase: String, $recipients: [String!], $key: String, $why: String, $tag: String) {
  exportStrand(
    input: {path: $path, scopes: $scopes, query: $query, since: $since, history: $history, withVectors: $withVectors, passphrase: $passphrase, recipients: $recipients, key: $key, why: $why, tag: $tag}
  ) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<ExportStrandMutation, ExportStrandMutationVariables>;
export const ImportStrandDocument = gql`
    mutation ImportStrand($path: String!, $passphrase: String, $plan: Boolean) {
  importStrand(input: {path: $path, passphrase: $passphrase, plan: $plan}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<ImportStrandMutation, ImportStrandMutationVariables>;
export const CloneStrandDocument = gql`
    mutation CloneStrand($path: String!, $to: String!, $passphrase: String) {
  cloneStrand(input: {path: $path, to: $to, passphrase: $passphrase}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<CloneStrandMutation, CloneStrandMutationVariables>;
export const DiffStrandsDocument = gql`
    mutation DiffStrands($path: String!, $other: String, $passphrase: String) {
  diffStrands(input: {path: $path, other: $other, passphrase: $passphrase}) {
    result {
      ...StrandDifference
    }
  }
}
    ${StrandDifferenceFragmentDoc}
${CountsFragmentDoc}
${CountFragmentDoc}` as unknown as DocumentNode<DiffStrandsMutation, DiffStrandsMutationVariables>;
export const RollBackToDocument = gql`
    mutation RollBackTo($version: String!) {
  rollBackTo(input: {version: $version}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<RollBackToMutation, RollBackToMutationVariables>;
export const TagVersionDocument = gql`
    mutation TagVersion($version: String!, $tag: String!, $move: Boolean) {
  tagVersion(input: {version: $version, tag: $tag, move: $move}) {
    result {
      ...StrandVersion
    }
  }
}
    ${StrandVersionFragmentDoc}` as unknown as DocumentNode<TagVersionMutation, TagVersionMutationVariables>;
export const SyncDocument = gql`
    mutation Sync($place: String!, $passphrase: String, $key: String, $scopes: [String!], $token: String) {
  sync(
    input: {place: $place, passphrase: $passphrase, key: $key, scopes: $scopes, token: $token}
  ) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<SyncMutation, SyncMutationVariables>;
export const WatchSyncDocument = gql`
    mutation WatchSync($place: String!, $minutes: Float, $scopes: [String!]) {
  watchSync(input: {place: $place, minutes: $minutes, scopes: $scopes}) {
    result {
      ...SyncedPlace
    }
  }
}
    ${SyncedPlaceFragmentDoc}` as unknown as DocumentNode<WatchSyncMutation, WatchSyncMutationVariables>;
export const ForgetPlaceDocument = gql`
    mutation ForgetPlace($place: String!) {
  forgetPlace(input: {place: $place}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<ForgetPlaceMutation, ForgetPlaceMutationVariables>;
export const CancelJobDocument = gql`
    mutation CancelJob($id: ID!) {
  cancelJob(input: {id: $id}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<CancelJobMutation, CancelJobMutationVariables>;
export const RebuildDocument = gql`
    mutation Rebuild {
  rebuild {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<RebuildMutation, RebuildMutationVariables>;
export const ReembedDocument = gql`
    mutation Reembed {
  reembed {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<ReembedMutation, ReembedMutationVariables>;
export const BackupDocument = gql`
    mutation Backup($path: String!) {
  backup(input: {path: $path}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<BackupMutation, BackupMutationVariables>;
export const RestoreBackupDocument = gql`
    mutation RestoreBackup($path: String!) {
  restoreBackup(input: {path: $path}) {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<RestoreBackupMutation, RestoreBackupMutationVariables>;
export const RecoverDocument = gql`
    mutation Recover {
  recover {
    result {
      ...Job
    }
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<RecoverMutation, RecoverMutationVariables>;
export const AcknowledgeLossDocument = gql`
    mutation AcknowledgeLoss {
  acknowledgeLoss {
    result
  }
}
    ` as unknown as DocumentNode<AcknowledgeLossMutation, AcknowledgeLossMutationVariables>;
export const ShutdownDocument = gql`
    mutation Shutdown {
  shutdown {
    result
  }
}
    ` as unknown as DocumentNode<ShutdownMutation, ShutdownMutationVariables>;
export const OpenLinkDocument = gql`
    mutation OpenLink {
  openLink {
    result {
      ...OpenLink
    }
  }
}
    ${OpenLinkFragmentDoc}` as unknown as DocumentNode<OpenLinkMutation, OpenLinkMutationVariables>;
export const EventsDocument = gql`
    subscription Events($types: [String!]) {
  events(types: $types) {
    ...Event
  }
}
    ${EventFragmentDoc}` as unknown as DocumentNode<EventsSubscription, EventsSubscriptionVariables>;
export const JobProgressDocument = gql`
    subscription JobProgress($id: ID!) {
  jobProgress(id: $id) {
    ...Job
  }
}
    ${JobFragmentDoc}` as unknown as DocumentNode<JobProgressSubscription, JobProgressSubscriptionVariables>;