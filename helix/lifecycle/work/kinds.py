"""Kinds: which work each kind of background job does, and which of them follow when enough has happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from helix.lifecycle.insight.rollup import roll_up
from helix.lifecycle.knowledge.consolidation import consolidate, rederive
from helix.lifecycle.thinking.model_disputes import find_contradictions
from helix.lifecycle.thinking.model_reflect import reflect_with_model
from helix.lifecycle.thinking.upgrade_importance import upgrade_importance
from helix.lifecycle.truth.gaps import close_gaps
from helix.lifecycle.truth.merge import merge_similar
from helix.lifecycle.truth.systemic import promote_systemic
from helix.lifecycle.work.run import Run
from helix.lifecycle.worth.maintenance import run_decay, run_decay_edges, run_prune

JobWork = Callable[[Run, Mapping[str, Any]], Mapping[str, Any]]
"""What a kind of job does: it may be run again from its beginning at any time, and answers with counts for people."""

CONSOLIDATE = "consolidate"
"""The kind that a session's end, a flush and the budget ask for; its payload is {"scope": a scope, or None for all}."""

KINDS: Mapping[str, JobWork] = MappingProxyType(
    {
        CONSOLIDATE: consolidate,
        "rederive": rederive,
        "promote_systemic": promote_systemic,
        "close_gaps": close_gaps,
        "merge_similar": merge_similar,
        "decay": run_decay,
        "decay_edges": run_decay_edges,
        "prune": run_prune,
        "reflect": reflect_with_model,
        "roll_up": roll_up,
        "upgrade_importance": upgrade_importance,
        "find_contradictions": find_contradictions,
    }
)

ROUND = (
    "upgrade_importance",
    CONSOLIDATE,
    "promote_systemic",
    "close_gaps",
    "roll_up",
    "find_contradictions",
    "reflect",
)
"""What is done, in this order, of a scope when a session of it ends, by a flush, and of all when enough has happened.

Importance is looked at first, as only what is not consolidated yet has it upgraded; of the rest the cheap comes first.
"""

ASKING = frozenset({CONSOLIDATE, "rederive", "upgrade_importance", "find_contradictions", "reflect", "roll_up"})
"""The kinds that ask a language model, where there is one."""
