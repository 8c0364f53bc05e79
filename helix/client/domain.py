# Written by scripts/schema: change the operation instead.
"""What operations take and answer with: records, enums and the types around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from helix.model.candidate import Accepted, Candidate, Certainty, Observed
from helix.model.context_answers import ActionContext, Brief, BuilderContext, Delivery, ExplorerContext, PlannerContext
from helix.model.dispute import Dispute, DisputeStatus
from helix.model.edge import Edge, Label
from helix.model.episode import Episode
from helix.model.erasure_report import ErasePlan
from helix.model.facets import Facets
from helix.model.graph_answers import (
    CentralNode,
    Community,
    CommunityInside,
    GraphNode,
    GraphOverview,
    GraphPath,
    Neighbourhood,
    Walk,
)
from helix.model.held import Held
from helix.model.memory import Kind, Memory, MemoryOrder, Status, TimeKind
from helix.model.proof import LoopHealth, MemoryEffect, Report, Showing
from helix.model.provenance import Trust
from helix.model.recall import Completable, Expand, Intent, KindAnswer, RecallAnswer, RecallItem
from helix.model.records import Node
from helix.model.reflection import Insight, Reflection
from helix.model.reports import (
    AgentConnection,
    BackgroundStatus,
    CypherResult,
    DoctorReport,
    Duplicate,
    EdgeSuggestion,
    Event,
    GraphTable,
    Health,
    Inbox,
    IngestReport,
    Job,
    LogLine,
    MaintenanceReport,
    OpenLink,
    Page,
    Recording,
    SessionReport,
    Setting,
    SimilarMemory,
    Stats,
    StatusReport,
    StoreResult,
    UndoReport,
    Version,
    WorkPlan,
)
from helix.model.strand import MemoryShare, StrandDifference, StrandInfo, StrandKey, StrandVersion, SyncedPlace
from helix.model.task import Exploration, ExplorationReport, Plan
from helix.model.task_answers import (
    Cascade,
    Check,
    Cleared,
    PlanReport,
    PlanTask,
    Stalled,
    TaskOutcome,
    TaskReport,
    TaskState,
    WorkspaceReport,
)
from helix.model.work_item import WorkItem

__all__ = [
    "Accepted",
    "ActionContext",
    "AgentConnection",
    "Any",
    "BackgroundStatus",
    "Brief",
    "BuilderContext",
    "Candidate",
    "Cascade",
    "CentralNode",
    "Certainty",
    "Check",
    "Cleared",
    "Community",
    "CommunityInside",
    "Completable",
    "CypherResult",
    "Delivery",
    "Dispute",
    "DisputeStatus",
    "DoctorReport",
    "Duplicate",
    "Edge",
    "EdgeSuggestion",
    "Episode",
    "ErasePlan",
    "Event",
    "Expand",
    "Exploration",
    "ExplorationReport",
    "ExplorerContext",
    "Facets",
    "GraphNode",
    "GraphOverview",
    "GraphPath",
    "GraphTable",
    "Health",
    "Held",
    "Inbox",
    "IngestReport",
    "Insight",
    "Intent",
    "Iterator",
    "Job",
    "Kind",
    "KindAnswer",
    "Label",
    "LogLine",
    "LoopHealth",
    "MaintenanceReport",
    "Mapping",
    "Memory",
    "MemoryEffect",
    "MemoryOrder",
    "MemoryShare",
    "Neighbourhood",
    "Node",
    "Observed",
    "OpenLink",
    "Page",
    "Plan",
    "PlanReport",
    "PlanTask",
    "PlannerContext",
    "RecallAnswer",
    "RecallItem",
    "Recording",
    "Reflection",
    "Report",
    "Sequence",
    "SessionReport",
    "Setting",
    "Showing",
    "SimilarMemory",
    "Stalled",
    "Stats",
    "Status",
    "StatusReport",
    "StoreResult",
    "StrandDifference",
    "StrandInfo",
    "StrandKey",
    "StrandVersion",
    "SyncedPlace",
    "TaskOutcome",
    "TaskReport",
    "TaskState",
    "TimeKind",
    "Trust",
    "UndoReport",
    "Version",
    "Walk",
    "WorkItem",
    "WorkPlan",
    "WorkspaceReport",
    "datetime",
]
