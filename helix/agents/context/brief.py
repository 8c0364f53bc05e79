"""Brief: what there is to know of a project when a session begins, before anybody has asked anything.

No question is embedded: memories are taken by what they are worth, from the catalogue's columns alone, so the same
store gives the same brief.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from helix.agents.context.blocks import LONGEST_BLOCK, WARNING, BlockEntry, claim, entry, listing, shown_of
from helix.agents.context.loaded import IsLoaded, nothing_loaded
from helix.command_outcome.fixes import SESSIONS
from helix.memory.contradiction.disputes import contradictions
from helix.model.context_answers import Brief
from helix.model.dispute import Dispute, DisputeStatus
from helix.model.memory import Kind, Memory, scopes_seen
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.model.task import BRIEF
from helix.recall.scoring import worthiest
from helix.scopes import same_scope
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.text.tokens import estimate_tokens, query_terms

TITLE = "# PROJECT BRIEF"
BUDGET = 600
"""Tokens of a brief where nobody says."""

_MOST = 8
_MOST_WARNINGS, _MOST_DISPUTES = 3, 3
_LONGEST_LINE, _LONGEST_CLAIM = 240, 120
_SAME_MATTER = 0.8
"""Share of the telling words of the shorter of two lines from which both say the same; of the longer one where it is
the user's line that would be left out."""
_OWN = (Trust.USER_ASSERTED, Trust.VERIFIED_OUTCOME, Trust.AGENT_INFERRED)
"""Whose decisions and conventions stand in a brief."""
_FIRST = (Trust.USER_ASSERTED, Trust.VERIFIED_OUTCOME)
"""Whose words have the whole budget of a brief; a contradiction is nobody's."""
_LISTS: Mapping[str, tuple[Kind, ...]] = {
    "DECISIONS": (Kind.DECISION,),
    "CONVENTIONS": (Kind.CONVENTION, Kind.PREFERENCE),
}
_AGAIN = "FAILURES_MET_AGAIN"
_MOST_AGAIN, _FAILURES_READ = 8, 200
_LOOKED_AT = 32
"""Memories of low trust that are read at most, to find those of a kind of source."""
_DRAWN_BY_AGENTS = frozenset({"agent", "tool", "web"})
_UNASKED = frozenset({"notes", "tool", "web"})
"""Where a side of an open contradiction may come from that is not put before an agent unasked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line of the brief: the list it belongs to, its text, and the memory in it; none for a contradiction."""

    title: str
    text: str
    entry: BlockEntry | None = None


def brief(
    store: Store, scope: str | None, budget_tokens: int = BUDGET, *, is_loaded: IsLoaded = nothing_loaded
) -> Brief:
    """Return a session's brief: systemic failures, those that come again, contradictions, decisions and conventions.

    Decisions and conventions are what you, a verified outcome or an agent said, yours first. Of commits, notes, tools
    and the web there are none that nobody confirmed: of hundreds of commits none is worth reading before it is known
    what is to be done. In this order, whole lines only, as many as the budget holds: a line that does not fit gives way
    to the next one, and a memory that says the same as one before it, which is no worse founded, is excluded. What
    `global` holds is worth half. What `is_loaded` tells of stands in a file that the client has read. A budget of 0
    gives nothing.
    """
    if budget_tokens < 1:
        return Brief()
    lists = [
        [_line(title, *found) for found in _best(store, scope, kinds, _OWN, _MOST)] for title, kinds in _LISTS.items()
    ]
    offered = (
        *_warnings(store, scope),
        *_again(store, scope),
        *_disputes(store.index, scope),
        *(line for line in chain.from_iterable(zip_longest(*lists)) if line is not None),
    )
    offered = tuple(line for line in offered if line.entry is None or not is_loaded(line.entry.memory))
    kept = _fitting(offered, budget_tokens)
    return Brief(text=_block(kept), shown=shown_of([line.entry for line in kept if line.entry is not None]))


def _fitting(offered: Sequence[_Line], budget_tokens: int) -> list[_Line]:
    """Return the lines that the budget holds, the first ones; others get half of it before the user's words had it.

    A repository whose commands fail and are mended, or an agent that warns of much, would else put what the user
    decided out of the brief.
    """
    kept: list[_Line] = []
    spent = estimate_tokens(TITLE) + 4 * (len(_LISTS) + 2)
    said: list[tuple[set[str], BlockEntry]] = []
    first, late, left = list[_Line](), list[_Line](), budget_tokens // 2
    for line in offered:
        others = line.entry is None or line.entry.memory.provenance.trust not in _FIRST
        left -= _cost(line) if others else 0
        (late if others and left < 0 else first).append(line)
    for line in (*first, *late):
        terms = set(query_terms(line.text.partition(": ")[2]))
        founded = [known for known, other in said if line.entry is not None and not _outranks(line.entry, other)]
        measure = max if line.entry is not None and line.entry.memory.provenance.trust in _FIRST else min
        if any(len(terms & known) >= _SAME_MATTER * max(1, measure(len(terms), len(known))) for known in founded):
            continue
        cost = _cost(line)
        if spent + cost <= budget_tokens and len(_block([*kept, line])) <= LONGEST_BLOCK:
            kept.append(line)
            said += [] if line.entry is None else [(terms, line.entry)]
            spent += cost
    return kept


def _cost(line: _Line) -> int:
    return estimate_tokens(line.text) + 2


def _block(lines: Sequence[_Line]) -> str:
    if not lines:
        return ""
    warnings = "".join(f"{WARNING}: {line.text}\n" for line in lines if line.title == WARNING)
    titles = (_AGAIN, "OPEN_CONTRADICTIONS", *_LISTS)
    lists = (listing(title, (line.text for line in lines if line.title == title)) for title in titles)
    return f"{TITLE}\n{warnings}{''.join(lists)}".rstrip()


def _outranks(one: BlockEntry, other: BlockEntry) -> bool:
    """Return whether one comes from a better founded class of source than the other."""
    return one.memory.provenance.trust.rank < other.memory.provenance.trust.rank


def _line(title: str, memory: Memory, worth: float) -> _Line:
    one = entry(memory, score=worth, arm=BRIEF, limit=_LONGEST_LINE)
    return _Line(title=title, text=one.line, entry=one)


def _warnings(store: Store, scope: str | None) -> list[_Line]:
    found = _best(store, scope, (Kind.SYSTEMIC,), (*_OWN, Trust.TOOL_OUTPUT), _LOOKED_AT)
    fit = [(memory, worth) for memory, worth in found if memory.said_by != "notes"]
    return [_line(WARNING, memory, worth) for memory, worth in fit[:_MOST_WARNINGS]]


def _again(store: Store, scope: str | None) -> list[_Line]:
    """Return the failures with a known fix that more than one session met, the one that most of them met first."""
    known = _best(store, scope, (Kind.FAILURE,), (*_OWN, Trust.TOOL_OUTPUT), _FAILURES_READ)
    times = [(memory.attributes.get(SESSIONS), memory, worth) for memory, worth in known if memory.resolution]
    met = [(count, memory, worth) for count, memory, worth in times if isinstance(count, int)]
    most = sorted(met, key=lambda one: -one[0])[:_MOST_AGAIN]
    return [_line(_AGAIN, memory, worth) for _, memory, worth in most]


def _disputes(index: StoreIndex, scope: str | None) -> list[_Line]:
    seen = None if scope is None else scopes_seen(scope)
    open_ones = contradictions(index, None, DisputeStatus.OPEN)
    asked = [case for case in open_ones if _UNASKED.isdisjoint((case.first.said_by, case.second.said_by))]
    fit = [case for case in asked if seen is None or any(same_scope(case.first.scope, one) for one in seen)]
    fit.sort(key=lambda case: case.drawn_by not in _DRAWN_BY_AGENTS)  # the last are told: those that were found
    return [_Line(title="OPEN_CONTRADICTIONS", text=_render_dispute(case)) for case in fit[-_MOST_DISPUTES:]]


def _render_dispute(case: Dispute) -> str:
    sides = (f"{side.name} ({side.said_by}: {claim(side, _LONGEST_CLAIM)})" for side in (case.first, case.second))
    drawn = " (an agent says so)" if case.drawn_by in _DRAWN_BY_AGENTS else ""
    return " against ".join(sides) + drawn


def _best(
    store: Store, scope: str | None, kinds: tuple[Kind, ...], trusts: tuple[Trust, ...], limit: int
) -> list[tuple[Memory, float]]:
    index = store.index
    best = worthiest(index, RecallQuery(query="", scope=scope, kinds=kinds), trusts, store.runtime.clock(), limit)
    return [(index.memory(row), worth) for row, worth in best]
