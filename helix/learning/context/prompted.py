"""Prompted: the context that a prompt to an agent asks for, by who that agent is and what it is asked."""

from __future__ import annotations

from helix.learning.context.builder import BuilderContext, builder_context
from helix.learning.context.explorer import ExplorerContext, explorer_context
from helix.learning.context.planner import PlannerContext, planner_context
from helix.learning.context.relevant import FLOOR, Recall
from helix.learning.contracts.prompt import (
    AgentType,
    detect_agent_type,
    extract_builder_params,
    extract_explorer_params,
    extract_planner_params,
    should_inject,
)


def context_for(
    recall: Recall, prompt: str, subagent_type: str, scope: str | None, *, floor: float = FLOOR
) -> ExplorerContext | PlannerContext | BuilderContext | None:
    """Return the context for a prompt, or None where it says NO_INJECT or is for no agent of ours.

    Nothing is recalled then; otherwise one recall is made at most.
    """
    agent = detect_agent_type(prompt, subagent_type)
    if agent is None or not should_inject(prompt):
        return None
    match agent:
        case AgentType.EXPLORER:
            explorer = extract_explorer_params(prompt)
            question = explorer.objective or explorer.focus or prompt
            return explorer_context(recall, question, scope, focus=explorer.focus, floor=floor)
        case AgentType.PLANNER:
            return planner_context(recall, extract_planner_params(prompt).objective or prompt, scope, floor=floor)
        case AgentType.BUILDER:
            return builder_context(recall, extract_builder_params(prompt), scope, floor=floor)
