"""Role contexts: what an explorer, a planner, a builder and the main thread are told, each in its own lists.

An explorer is told facts that need not be found again, and failures to watch for; a planner what was decided, how
things are done here, and what has changed lately; a builder what to avoid, what to apply, and what the tasks before its
own delivered. The main thread is told the few memories that a person's prompt is about.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from helix.agents.answers.planner_answer import sequence
from helix.agents.answers.prompt import (
    MOST_MEMORIES,
    AgentType,
    BuilderParams,
    detect_agent_type,
    extract_builder_params,
    extract_explorer_params,
    extract_planner_params,
    should_inject,
)
from helix.agents.answers.task_record import state
from helix.agents.context.blocks import (
    CONVENTIONS,
    FACTS,
    FAILURES,
    PARENTS,
    PATTERNS,
    WARNING,
    BlockEntry,
    fitted,
    lines_of,
    listing,
    names_line,
    one_line,
    shown_of,
    told_name,
)
from helix.agents.context.relevant import LIMIT, STRICT, Sources, relevant
from helix.model.context_answers import BuilderContext, Delivery, ExplorerContext, PlannerContext
from helix.model.memory import Kind
from helix.model.provenance import QUOTED
from helix.model.recall import Intent
from helix.model.task import DELIVERED, SEQ, SLUG, SUMMARY, Shown, Task
from helix.model.task_answers import PlanTask
from helix.text.tokens import estimate_tokens, query_terms

EXPLORER_TITLE = "# MEMORY CONTEXT"
_EXPLORER_FACTS = (
    *(Kind.DECISION, Kind.CONVENTION, Kind.PREFERENCE),
    *(Kind.FACT, Kind.ENTITY, Kind.PROJECT, Kind.PATTERN, Kind.SNIPPET, Kind.EVOLUTION),
)
_EXPLORER_FAILURES = (Kind.SYSTEMIC, Kind.FAILURE)
_EXPLORER_KINDS = (Kind.DECISION, Kind.CONVENTION, Kind.FACT, Kind.ENTITY, Kind.PROJECT, *_EXPLORER_FAILURES)


def explorer_context(
    sources: Sources,
    objective: str,
    scope: str | None,
    limit: int = LIMIT,
    *,
    focus: str = "",
) -> ExplorerContext:
    """Return an explorer's context: what is known and the failures that matter to its objective, `limit` in all.

    Decisions and conventions are among what is known.
    """
    question = f"{objective}\n{focus}" if focus else objective
    found = relevant(sources, question, scope=scope, kinds=_EXPLORER_KINDS, limit=limit)
    kept, text = fitted(found, _explorer_block)
    return ExplorerContext(
        known_facts=_explorer_lines(kept, _EXPLORER_FACTS),
        relevant_failures=_explorer_lines(kept, _EXPLORER_FAILURES),
        injected=tuple(one.name for one in kept),
        text=text,
        shown=shown_of(kept),
    )


def _explorer_block(entries: Sequence[BlockEntry]) -> str:
    if not entries:
        return ""
    facts = listing("KNOWN_FACTS", _explorer_lines(entries, _EXPLORER_FACTS))
    failures = listing("RELEVANT_FAILURES", _explorer_lines(entries, _EXPLORER_FAILURES))
    return f"{EXPLORER_TITLE}\n{facts}{failures}{names_line(entries)}".rstrip()


def _explorer_lines(entries: Sequence[BlockEntry], kinds: Sequence[Kind]) -> tuple[str, ...]:
    chosen = [one for one in entries if one.memory.kind in kinds]
    return tuple(one.line for one in sorted(chosen, key=lambda one: one.memory.kind is not Kind.SYSTEMIC))


PLANNER_TITLE = "# PROJECT CONTEXT"
_PLANNER_CONVENTIONS = (Kind.CONVENTION, Kind.PREFERENCE, Kind.PATTERN, Kind.SNIPPET)
_PLANNER_FACTS = (Kind.FACT, Kind.ENTITY, Kind.PROJECT)
_PLANNER_KINDS = (
    *(Kind.SYSTEMIC, Kind.DECISION, Kind.CONVENTION, Kind.PREFERENCE, Kind.EVOLUTION),
    *(Kind.FACT, Kind.FAILURE),
)


def planner_context(
    sources: Sources,
    objective: str,
    scope: str | None,
    limit: int = LIMIT,
) -> PlannerContext:
    """Return a planner's context: decisions, conventions, changes, facts and failures, `limit` in all.

    A systemic failure that it runs into stands before them, as a warning.
    """
    found = relevant(sources, objective, scope=scope, kinds=_PLANNER_KINDS, limit=limit)
    kept, text = fitted(found, _planner_block)
    return PlannerContext(
        decisions=lines_of(kept, (Kind.DECISION,)),
        conventions=lines_of(kept, _PLANNER_CONVENTIONS),
        recent_evolution=lines_of(kept, (Kind.EVOLUTION,)),
        injected=tuple(one.name for one in kept),
        text=text,
        shown=shown_of(kept),
    )


def _planner_block(entries: Sequence[BlockEntry]) -> str:
    if not entries:
        return ""
    warnings = "".join(f"{WARNING}: {line}\n" for line in lines_of(entries, (Kind.SYSTEMIC,)))
    lists = (
        listing("DECISIONS", lines_of(entries, (Kind.DECISION,))),
        listing("CONVENTIONS", lines_of(entries, _PLANNER_CONVENTIONS)),
        listing("RECENT_EVOLUTION", lines_of(entries, (Kind.EVOLUTION,))),
        listing("KNOWN_FACTS", lines_of(entries, _PLANNER_FACTS)),
        listing("RELEVANT_FAILURES", lines_of(entries, (Kind.FAILURE,))),
    )
    return f"{PLANNER_TITLE}\n{warnings}{''.join(lists)}{names_line(entries)}".rstrip()


_BUILDER_SECTIONS: Mapping[str, tuple[Kind, ...]] = {
    FAILURES: (Kind.FAILURE,),
    PATTERNS: (Kind.PATTERN, Kind.SNIPPET),
    CONVENTIONS: (Kind.CONVENTION, Kind.PREFERENCE),
    FACTS: (Kind.DECISION, Kind.FACT, Kind.ENTITY, Kind.PROJECT),
}
"""The lists of a block in their order, with the kinds of memory that each holds."""
_BINDING = _BUILDER_SECTIONS[CONVENTIONS]
"""Kinds that bind an agent, where they are not only quoted from somebody else: then they stand among the facts."""
_BUILDER_KINDS = (Kind.SYSTEMIC, *(kind for kinds in _BUILDER_SECTIONS.values() for kind in kinds))


def builder_context(sources: Sources, params: BuilderParams, scope: str | None) -> BuilderContext:
    """Return a builder's context: memories that fit its task's objective or touch its files, `limit` in all.

    Systemic failures are warnings, which come first. Without anything to say the block is empty.
    """
    found = relevant(
        sources,
        "\n".join(dict.fromkeys(part for part in (params.objective, params.task) if part)),
        scope=scope,
        kinds=_BUILDER_KINDS,
        limit=min(params.memory_limit, MOST_MEMORIES),
        intent=Intent.HOW,
        files=params.relevant_files,
    )
    parents = lineage_of(params.lineage)
    said = one_line(params.warning)
    kept, text = fitted(found, lambda entries: _builder_block(entries, said, parents))
    return BuilderContext(injected=tuple(one.name for one in kept), text=text, shown=shown_of(kept))


def _builder_block(entries: Sequence[BlockEntry], warning: str, parents: Sequence[Delivery]) -> str:
    warnings = [*([warning] if warning else []), *lines_of(entries, (Kind.SYSTEMIC,))]
    own = [one for one in entries if not _is_hearsay(one)]
    lists = [listing(title, lines_of(own, kinds)) for title, kinds in _BUILDER_SECTIONS.items()]
    hearsay = [one.line for one in entries if _is_hearsay(one)]
    lists[-1] = listing(FACTS, (*lines_of(own, _BUILDER_SECTIONS[FACTS]), *hearsay))
    return "".join(
        (
            *(f"{WARNING}: {line}\n" for line in warnings),
            *lists,
            listing(PARENTS, (parent.line for parent in parents)),
            names_line(entries),
        )
    ).rstrip()


def _is_hearsay(one: BlockEntry) -> bool:
    return one.memory.kind in _BINDING and one.memory.said_by in QUOTED


_LONGEST_DELIVERY = 300
_MOST_DELIVERIES = 20


def lineage_of(tasks: Iterable[Mapping[str, Any] | Task | PlanTask | Delivery]) -> tuple[Delivery, ...]:
    """Return the deliveries of tasks for a builder's context, by their numbers, at most the last twenty.

    A task is one of ours, one of a client's list (`metadata` says what came of it), or a delivery as it stands.
    """
    found = [delivery for task in tasks if (delivery := _delivery(task)) is not None]
    return tuple(sorted(found, key=lambda one: (len(one.seq), one.seq, one.slug))[-_MOST_DELIVERIES:])


def _delivery(task: Mapping[str, Any] | Task | PlanTask | Delivery) -> Delivery | None:
    match task:
        case Delivery():
            return task
        case PlanTask():
            return _delivery_of(task.seq, task.slug, task.delivered) if task.outcome == DELIVERED else None
        case Task():
            said = task.attributes
            return _delivery_of(said.get(SEQ), said.get(SLUG), said.get(SUMMARY)) if task.outcome == DELIVERED else None
    if "delivered" in task:
        return _delivery_of(task.get("seq"), task.get("slug"), task.get("delivered"))
    if not state(task).successful:
        return None
    metadata = task.get("metadata")
    said = metadata if isinstance(metadata, Mapping) else {}
    return _delivery_of(said.get("seq"), said.get("slug") or task.get("subject"), said.get("summary"))


def _delivery_of(seq: object, slug: object, delivered: object) -> Delivery | None:
    words = one_line(delivered, _LONGEST_DELIVERY) if isinstance(delivered, str) else ""
    if not words:
        return None
    number = one_line(sequence(seq), 60) if isinstance(seq, str | int) else ""
    return Delivery(seq=number, slug=told_name(slug, 60) if isinstance(slug, str) else "", delivered=words)


_LOOKING, _PLANNING = frozenset({"explore", "explorer", "search", "research"}), frozenset({"plan", "planner"})
"""Names of other agents that look around or plan; all others are taken to build something."""


def context_for_other(
    sources: Sources, prompt: str, subagent_type: str, scope: str | None
) -> ExplorerContext | PlannerContext | BuilderContext | None:
    """Return the context for an agent of another role, by its prompt as a whole; None where it wants none."""
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
    """Return the context for an agent's prompt, or None where it says NO_INJECT or is for no agent of ours.

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


PROMPT_BUDGET = 150
"""Tokens that a prompt's memories take where nobody says."""
_PROMPT_TITLE = "Helix remembers about this"
_MOST_OF_PROMPT = 3
_FEWEST_TERMS = 4
_SAME_TASK = 0.3
_PROMPT_KINDS = tuple(kind for kind in Kind if kind not in (Kind.GAP, Kind.EVOLUTION))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """What is told with a prompt, and what is noted as shown; both empty for nothing."""

    text: str = ""
    shown: tuple[Shown, ...] = ()


def is_telling(prompt: str) -> bool:
    """Return whether a prompt says what its context is to be about, as `go on` and a client's own commands do not."""
    return not prompt.lstrip().startswith(("/", "!")) and len(set(query_terms(prompt))) >= _FEWEST_TERMS


def is_same_task(terms: Collection[str], prompt: str) -> bool:
    """Return whether a prompt wants the context of the same task as an earlier prompt of these terms."""
    asked = set(query_terms(prompt))
    return len(asked.intersection(terms)) >= _SAME_TASK * max(1, min(len(asked), len(terms)))


def request_context(
    sources: Sources,
    prompt: str,
    scope: str | None,
    *,
    budget_tokens: int = PROMPT_BUDGET,
    known: Collection[str] = (),
) -> RequestContext:
    """Return the context that a prompt is surely about, in whole lines within a budget, without the `known`.

    The floor is that of what nobody here stands for.
    """
    strict = replace(sources, floor=min(1.0, STRICT * sources.floor))
    found = relevant(strict, prompt, scope=scope, kinds=_PROMPT_KINDS, limit=_MOST_OF_PROMPT)
    kept, spent = [], estimate_tokens(_PROMPT_TITLE)
    for one in found:
        cost = estimate_tokens(one.line) + 2
        if one.memory.id not in known and spent + cost <= budget_tokens:
            kept.append(one)
            spent += cost
    return RequestContext(text=listing(_PROMPT_TITLE, (one.line for one in kept)).rstrip(), shown=shown_of(kept))
