"""Subagent context: the context that a prompt to an agent asks for, by who that agent is and what it is asked."""

from __future__ import annotations

from helix.agents.answers.prompt import (
    AgentType,
    BuilderParams,
    detect_agent_type,
    extract_builder_params,
    extract_explorer_params,
    extract_planner_params,
    should_inject,
)
from helix.agents.context.builder_context import builder_context
from helix.agents.context.explorer_context import explorer_context
from helix.agents.context.planner_context import planner_context
from helix.agents.context.relevant import Sources
from helix.model.context_answers import BuilderContext, ExplorerContext, PlannerContext

_LOOKING, _PLANNING = frozenset({"explore", "explorer", "search", "research"}), frozenset({"plan", "planner"})
"""Names of other agents that look around or plan; all others are taken to build something."""


def context_for_other(
    sources: Sources, prompt: str, subagent_type: str, scope: str | None
) -> ExplorerContext | PlannerContext | BuilderContext | None:
    """Return the context for an agent that is none of ours, by its prompt as a whole; None where it wants none."""
    if not should_inject(prompt) or not prompt.strip():
        return None
    name = subagent_type.rpartition(":")[2].strip().lower()
    if name in _LOOKING:
        return explorer_context(sources, prompt, scope)
    if name in _PLANNING:
        return planner_context(sources, prompt, scope)
    return builder_context(sources, BuilderParams(objective=prompt), scope)


def context_for(
    sources: Sources, prompt: str, subagent_type: str, scope: str | None
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
            return explorer_context(sources, question, scope, focus=explorer.focus)
        case AgentType.PLANNER:
            return planner_context(sources, extract_planner_params(prompt).objective or prompt, scope)
        case AgentType.BUILDER:
            return builder_context(sources, extract_builder_params(prompt), scope)
