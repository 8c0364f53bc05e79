"""Three ways: the row that a merge comes to, by what it is here and there, and what it was at the common version.

What one side alone has changed is taken from that side; what both have changed is joined (`join.py`). Nothing is
dropped but what one side dropped after the common version and the other has left alone since. What was erased on either
side is erased on both. Nobody changes what is believed more than they are, nor does a stranger by way of another
machine of the person.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from helix.memory.erasure.stored_secrets import texts_of
from helix.model.edge import Label
from helix.model.memory import Status
from helix.model.operations import PutNode
from helix.model.provenance import STRANGERS, Trust
from helix.strands.join import ended_last, joined_row, stood_for
from helix.strands.lineage import SHORT, Known
from helix.strands.reading import StrandEntry
from helix.strands.received import COUNTED, TIMES, Signer
from helix.strands.rows import Key, StrandRow, paired_rows, row_digest

_BELIEVED = ("trust", "confidence", "status")
_WORDS = ("trigger", "resolution")
_ENDS = ("status", "valid_to", "retired_at")
_ENDED_HERE = frozenset({Label.MEMORY, Label.EPISODE, Label.REFLECTION})
"""Labels of what a person ends; of a task its status says how far it has come there."""
_OF_HERE = ("attributes", "confidence", "trust", *_ENDS, *COUNTED)


@dataclass(frozen=True, slots=True)
class Incoming:
    """A row of the other side (None: it has none) with its digest there, and its digest at the common version.

    `base` is None where the row was not there, or no common version is known.
    """

    key: Key
    theirs: StrandRow | None
    base: bytes | None
    of_theirs: bytes | None = None
    vectors: tuple[bytes | None, ...] = ()


def side_by_side(
    theirs: Iterable[StrandEntry], base: Iterable[Known], *, partial: bool, keep: Callable[[Known], object]
) -> Iterator[Incoming]:
    """Yield every strand row that the other side of a merge has or had; both come in the order of their keys.

    `partial`: the other side says only what it changed since the common version. `keep` is given what it holds by now.
    """
    for entry, known in paired_rows(theirs, base):
        if entry is not None:
            if entry.digest is not None:
                keep(Known(entry.key, entry.digest))
            was = None if known is None else known.digest
            yield Incoming(entry.key, entry.row, was, entry.digest, entry.vectors)
        elif known is not None and partial:
            keep(known)
        elif known is not None:
            yield Incoming(known.key, None, known.digest)


def completed(
    theirs: Iterable[StrandEntry], before: Iterable[Known], keep: Callable[[Known], object]
) -> Iterator[StrandEntry]:
    """Yield every strand row of the other side, told what changed since `before`; `keep` is given all it has."""
    for one in side_by_side(theirs, before, partial=True, keep=keep):
        yield StrandEntry(one.key, one.theirs, one.of_theirs, one.vectors)


def is_settled(other: Incoming) -> bool:
    """Return whether a row is there as it was at the common version, and so stays here what it is here."""
    return not (other.theirs is not None and other.theirs.is_erased) and _is_unchanged(other)


def _is_unchanged(other: Incoming) -> bool:
    return other.base is not None and other.of_theirs is not None and other.of_theirs[:SHORT] == other.base


def merged(mine: StrandRow | None, other: Incoming, signer: Signer) -> StrandRow | None:
    """Return the row that a strand's three-way merge comes to; None where neither side has it any more."""
    theirs = other.theirs
    mixed = theirs is not None and mine is not None and mine.provenance.is_strangers != theirs.provenance.is_strangers
    if theirs is not None and mine is not None:
        if not signer.is_own:
            theirs = _as_here(theirs, mine)
        elif mixed and (held := _believed(mine, theirs)) is not None:
            return held
        elif mixed and mine.provenance.is_strangers:
            mine = _in_own_words(mine, theirs)
        elif mixed:
            theirs = _in_own_words(theirs, mine)
    if mine == theirs:
        return mine
    unchanged_there = _is_unchanged(other)
    if mine is None:
        return None if unchanged_there and theirs is not None and not theirs.is_erased else theirs
    unchanged_here = other.base is not None and row_digest(mine.line())[:SHORT] == other.base
    if theirs is None:
        return _dropped(mine) if unchanged_here and signer.is_own and not mine.is_erased else mine
    if _is_kept(mine, signer):
        return mine
    if not (signer.is_own or mine.is_erased or theirs.is_erased):
        return mine if unchanged_there else _held_on(_told_anew(mine, theirs), mine, theirs)
    if mine.is_erased or theirs.is_erased or not (unchanged_here or unchanged_there):
        both = joined_row(mine, theirs)
        own = stood_for(ended_last(both, mine, theirs), mine, theirs) if signer.is_own and not mixed else None
        return own or _held_on(_earned(both, mine, theirs), mine, theirs)
    return theirs if unchanged_here else mine


def _believed(mine: StrandRow, theirs: StrandRow) -> StrandRow | None:
    """Return what the person has of a row of which a stranger has told one of their machines; None if believed alike.

    A stranger says no more by way of another machine of the person than in a strand of their own.
    """
    strangers, own = (mine, theirs) if mine.provenance.is_strangers else (theirs, mine)
    return own if strangers.provenance.trust.rank > own.provenance.trust.rank and not own.is_erased else None


def _dropped(mine: StrandRow) -> StrandRow | None:
    """Return what stays of a row that the person's other machine dropped: of their own words a forgotten memory.

    That machine has taken back what came in there, and it may have come from here.
    """
    put = mine.put
    if (
        not isinstance(put, PutNode)
        or put.label is not Label.MEMORY
        or mine.provenance.trust is not Trust.USER_ASSERTED
    ):
        return None
    if put.props.get("status") != Status.ACTIVE:
        return None  # kept on one machine alone, the two would never come to the same
    return replace(mine, put=replace(put, props={**put.props, "status": Status.FORGOTTEN.value}))


def _earned(both: StrandRow, mine: StrandRow, theirs: StrandRow) -> StrandRow:
    """Return a row without what its words here have earned, where others made other words of them."""
    said = [[row.put.props.get(name) for name in _WORDS] for row in (both, mine)]
    return both if said[0] == said[1] else _with(both, theirs, COUNTED)


def _held_on(both: StrandRow, *sides: StrandRow) -> StrandRow:
    """Return a row as quarantined where one of its sides is: the words that are held may stand in it still."""
    if both.is_erased or all(one.put.props.get("status") != Status.QUARANTINED for one in sides):
        return both
    return replace(both, put=replace(both.put, props={**both.put.props, "status": Status.QUARANTINED.value}))


def _told_anew(mine: StrandRow, theirs: StrandRow) -> StrandRow:
    """Return a stranger's row as strangers tell it now; what was ended, held or noted of it here stays.

    They say themselves how it was at the common version: whatever they say of that, it was not changed by them alone.
    """
    both = _earned(joined_row(mine, theirs), mine, theirs)
    is_work = isinstance(mine.put, PutNode) and mine.put.label not in _ENDED_HERE
    return _with(theirs, both, set(_OF_HERE).difference(_ENDS) if is_work else _OF_HERE)


def _in_own_words(strangers: StrandRow, own: StrandRow) -> StrandRow:
    """Return what a machine holds of a stranger as the person's other one says it, but for where it was ended."""
    return strangers if own.is_erased or strangers.is_erased else _with(own, strangers, _ENDS)


def _is_kept(mine: StrandRow, signer: Signer) -> bool:
    """Return whether a signer may not change a row: it came from no stranger, or is believed more than they are."""
    told = mine.provenance
    return not signer.is_own and (signer.trust.rank > told.trust.rank or not told.slice.startswith(STRANGERS))


def is_refused(mine: StrandRow | None, theirs: StrandRow | None, signer: Signer) -> bool:
    """Return whether the other side says otherwise of a row, or has ended it, and may not."""
    if mine is None or theirs is None or not _is_kept(mine, signer):
        return False
    return _says(mine) != _says(theirs)


def _says(row: StrandRow) -> object:
    """Return the words of a row and whether it holds, without what each store notes of it for itself."""
    props = row.put.props
    status = props.get("status")
    return row.texts, props.get("valid_to"), Status.ACTIVE if status == Status.QUARANTINED else status


def _as_here(theirs: StrandRow, mine: StrandRow) -> StrandRow:
    """Return a row with the source, slice and times that it has here, and believed as here where it says nothing else.

    Others do not say what was taken from where, nor when it was recorded here. How far they believe what is here is
    theirs alone: it would come back with each of their strands.
    """
    row = _with(theirs, mine, ("slice", "source", *TIMES))
    said = [{each.text for each in texts_of(one.put.props)} for one in (row, mine)]
    return _with(row, mine, _BELIEVED) if said[0] <= said[1] and _says(row) == _says(mine) else row


def _with(theirs: StrandRow, mine: StrandRow, names: Collection[str]) -> StrandRow:
    rest = {name: value for name, value in theirs.put.props.items() if name not in names}
    here = {name: value for name, value in mine.put.props.items() if name in names}
    return replace(theirs, put=replace(theirs.put, props={**rest, **here}))
