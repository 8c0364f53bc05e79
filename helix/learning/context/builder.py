"""Builder's context: what to avoid, what to apply, how things are done here, and what came before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from helix.learning.context.blocks import (
    CONVENTIONS,
    FACTS,
    FAILURES,
    PARENTS,
    PATTERNS,
    WARNING,
    Entry,
    fitted,
    listing,
    names_line,
    one_line,
    shown_of,
)
from helix.learning.context.lineage import Delivery
from helix.learning.context.lineage import lineage as lineage_of
from helix.learning.context.relevant import FLOOR, Recall, relevant
from helix.learning.context.written import Written, nothing_written
from helix.learning.contracts.prompt import MOST_MEMORIES, BuilderParams
from helix.model.injection import Shown
from helix.model.memory import Kind
from helix.model.provenance import QUOTED
from helix.model.recall import Intent

_SECTIONS: Mapping[str, tuple[Kind, ...]] = {
    FAILURES: (Kind.FAILURE,),
    PATTERNS: (Kind.PATTERN, Kind.SNIPPET),
    CONVENTIONS: (Kind.CONVENTION, Kind.PREFERENCE),
    FACTS: (Kind.DECISION, Kind.FACT, Kind.ENTITY, Kind.PROJECT),
}
"""The lists of a block in their order, with the kinds of memory that each holds."""
_BINDING = _SECTIONS[CONVENTIONS]
"""Kinds that bind an agent, where they are not only quoted from somebody else: then they stand among the facts."""
_KINDS = (Kind.SYSTEMIC, *(kind for kinds in _SECTIONS.values() for kind in kinds))


@dataclass(frozen=True, slots=True, kw_only=True)
class BuilderContext:
    """What a builder is told: the block, the names of the memories in it, and what is noted as shown."""

    injected: tuple[str, ...] = ()
    text: str = ""
    shown: tuple[Shown, ...] = ()

    @property
    def prompt(self) -> str:
        """The block as it goes into a prompt."""
        return self.text


def builder_context(
    recall: Recall,
    params: BuilderParams,
    scope: str | None,
    *,
    lineage: Iterable[Mapping[str, Any] | Delivery] | None = None,
    limit: int | None = None,
    warning: str | None = None,
    floor: float = FLOOR,
    written: Written = nothing_written,
) -> BuilderContext:
    """Return what matters to a task: memories that fit its objective and those that touch its files, `limit` in all.

    Lineage, limit and warning are those of the prompt where they are not given. Systemic failures are warnings, which
    come first. Without anything to say the block is empty.
    """
    most = params.memory_limit if limit is None else limit
    found = relevant(
        recall,
        "\n".join(dict.fromkeys(part for part in (params.objective, params.task) if part)),
        scope=scope,
        kinds=_KINDS,
        limit=min(most, MOST_MEMORIES),
        floor=floor,
        intent=Intent.HOW,
        files=params.relevant_files,
        written=written,
    )
    parents = lineage_of(params.lineage if lineage is None else lineage)
    said = one_line(params.warning if warning is None else warning)
    kept, text = fitted(found, lambda entries: _block(entries, said, parents))
    return BuilderContext(injected=tuple(one.name for one in kept), text=text, shown=shown_of(kept))


def _block(entries: Sequence[Entry], warning: str, parents: Sequence[Delivery]) -> str:
    warnings = [*([warning] if warning else []), *_lines(entries, (Kind.SYSTEMIC,))]
    own = [one for one in entries if not _is_hearsay(one)]
    lists = [listing(title, _lines(own, kinds)) for title, kinds in _SECTIONS.items()]
    hearsay = [one.line for one in entries if _is_hearsay(one)]
    lists[-1] = listing(FACTS, (*_lines(own, _SECTIONS[FACTS]), *hearsay))
    return "".join(
        (
            *(f"{WARNING}: {line}\n" for line in warnings),
            *lists,
            listing(PARENTS, (parent.line for parent in parents)),
            names_line(entries),
        )
    ).rstrip()


def _is_hearsay(one: Entry) -> bool:
    return one.memory.kind in _BINDING and one.memory.said_by in QUOTED


def _lines(entries: Sequence[Entry], kinds: Sequence[Kind]) -> tuple[str, ...]:
    return tuple(one.line for one in entries if one.memory.kind in kinds)
