"""Prompt context: the few memories that a person's own prompt is about, for the main thread, in a small space."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from helix.agents.context.blocks import listing, shown_of
from helix.agents.context.relevant import STRICT, Sources, relevant
from helix.model.memory import Kind
from helix.model.task import Shown
from helix.text.tokens import estimate_tokens, query_terms

BUDGET = 150
"""Tokens that a prompt's memories take where nobody says."""
_TITLE = "Helix remembers about this"
_MOST = 3
_FEWEST_TERMS = 4
_SAME_TASK = 0.3
_KINDS = tuple(kind for kind in Kind if kind not in (Kind.GAP, Kind.EVOLUTION))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """What is told with a prompt, and what is noted as shown; both empty for nothing."""

    text: str = ""
    shown: tuple[Shown, ...] = ()


def is_telling(prompt: str) -> bool:
    """Return whether a prompt says what it is about, as `go on` and a client's own commands do not."""
    return not prompt.lstrip().startswith(("/", "!")) and len(set(query_terms(prompt))) >= _FEWEST_TERMS


def is_same_task(terms: Collection[str], prompt: str) -> bool:
    """Return whether a prompt speaks of what an earlier one of these terms spoke of."""
    asked = set(query_terms(prompt))
    return len(asked.intersection(terms)) >= _SAME_TASK * max(1, min(len(asked), len(terms)))


def request_context(
    sources: Sources,
    prompt: str,
    scope: str | None,
    *,
    budget_tokens: int = BUDGET,
    known: Collection[str] = (),
) -> RequestContext:
    """Return what a prompt is about beyond doubt, in whole lines within a budget; `known` was shown already.

    The floor is that of what nobody here stands for.
    """
    strict = replace(sources, floor=min(1.0, STRICT * sources.floor))
    found = relevant(strict, prompt, scope=scope, kinds=_KINDS, limit=_MOST)
    kept, spent = [], estimate_tokens(_TITLE)
    for one in found:
        cost = estimate_tokens(one.line) + 2
        if one.memory.id not in known and spent + cost <= budget_tokens:
            kept.append(one)
            spent += cost
    return RequestContext(text=listing(_TITLE, (one.line for one in kept)).rstrip(), shown=shown_of(kept))
