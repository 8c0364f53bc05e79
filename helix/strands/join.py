"""Join: one row of what two sides say of the same thing where both have changed it.

The two are joined property by property, by rules that do not ask which side is which and come to the same however often
and in whatever order they are applied: the join of a semilattice, as in state-based CRDTs (Shapiro et al. 2011,
"Conflict-free replicated data types"). So two stores that import each other's rows end up the same. Nothing that one
side ended goes on, and trust is the weaker one; but what the person stood for on one of their machines stays theirs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from helix.memory.change.versions import OWN_WORD, TOLD_AT
from helix.model.edge import Relation, relation_of, words_of
from helix.model.operations import PutEdge, PutNode, Scalar
from helix.model.provenance import STRANGERS, Trust
from helix.model.tombstone import joined_tombstones
from helix.strands.rows import StrandRow, canonical_json

_STATUSES = ("active", "archived", "retired", "quarantined", "forgotten")
_RULING = frozenset({"outcome", "note", "resolved_at"})
_RESOLVED, _PERSONS = "resolved", "persons"
_TYPES: tuple[type, ...] = (type(None), bool, int, float, str, list, dict)


def joined_row(one: StrandRow, other: StrandRow) -> StrandRow:
    """Return the row of a strand that both sides of a merge come to. What was erased on either side is erased."""
    if isinstance(one.put, PutNode):
        erased = [row for row in (one, other) if row.is_erased]
        if len(erased) == 1:
            return erased[0]
        if erased:
            return replace(one, put=replace(one.put, props=joined_tombstones(one.put.props, other.put.props)))
    props = {
        name: _value(name, one.put.props.get(name), other.put.props.get(name))
        for name in sorted({*one.put.props, *other.put.props})
    }
    if isinstance(one.put, PutEdge) and one.put.type is Relation.CONTRADICTS:
        props["attributes"] = _ruled(one, other, str(props.get("attributes") or "{}"))
    texts = max(one.texts, other.texts, key=lambda texts: (len(texts), texts))
    return StrandRow(replace(one.put, props=props), texts, max(one.scope, other.scope))


def ended_last(both: StrandRow, one: StrandRow, other: StrandRow) -> StrandRow:
    """Return a joined memory with the end that was set last: one whose end is moved counts as recorded then.

    For the person's own machines alone: who confirms or chooses what had ended has it hold again. When somebody says
    that they recorded it sets no end.
    """
    moved = [row for row in (one, other) if TOLD_AT in _told(row)]
    recorded = {_order(row.put.props.get("recorded_at")) for row in moved}
    if both.is_erased or not moved or len(recorded) < len(moved):
        return both
    last = max(moved, key=lambda row: _order(row.put.props.get("recorded_at")))
    props = {name: value for name, value in both.put.props.items() if name != "valid_to"}
    end = {name: value for name, value in last.put.props.items() if name == "valid_to"}
    return replace(both, put=replace(both.put, props={**props, **end}))


def stood_for(both: StrandRow, one: StrandRow, other: StrandRow) -> StrandRow:
    """Return a joined memory believed as on the side where the person stood for the words, if one side alone says so.

    For the person's own machines alone: on the other one they had not said it yet, or an agent had changed it since.
    """
    marked = [row for row in (one, other) if _is_persons(row)]
    if both.is_erased or len(marked) != 1 or _words_of(one) != _words_of(other):
        return both
    believed = {name: marked[0].put.props[name] for name in ("confidence", "trust") if name in marked[0].put.props}
    return replace(both, put=replace(both.put, props={**both.put.props, **believed}))


def _is_persons(row: StrandRow) -> bool:
    """Return whether a memory's words are a person's, and are believed as theirs: an agent's rename changes that."""
    return OWN_WORD in _told(row) and row.put.props.get("trust") == Trust.USER_ASSERTED.value


def _told(row: StrandRow) -> Mapping[str, Any]:
    try:
        told = json.loads(str(row.put.props.get("attributes") or "{}"))
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _words_of(row: StrandRow) -> tuple[Scalar, ...]:
    return row.put.props.get("trigger"), row.put.props.get("resolution")


def _ruled(one: StrandRow, other: StrandRow, both: str) -> str:
    """Return what a contradiction says of itself: it is open again where the two sides were decided otherwise, or one
    of them is open.

    What a person decided on one side alone is as they decided it, whatever a rule made of the other one. It keeps
    `before`, how the memories stood: whoever joins them has them stand so again (`disputes.stand_again`).
    """
    try:
        said = [json.loads(str(row.put.props.get("attributes") or "{}")) for row in (one, other)]
        persons = [held for held in said if held.get("status") == _RESOLVED or _PERSONS in held]
        if len(persons) == 1:
            return json.dumps(persons[0], ensure_ascii=False, sort_keys=True)
        rulings = sorted({str(ruling) for held in said for ruling in _rulings(held)})
        kept = {name: value for name, value in json.loads(both).items() if name not in _RULING}
    except (AttributeError, TypeError, ValueError, RecursionError):
        return both
    if len(rulings) < 2:
        return both
    told = {**kept, "status": "open", "rulings": rulings, **({_PERSONS: True} if persons else {})}
    return json.dumps(told, ensure_ascii=False, sort_keys=True)


def _rulings(held: Mapping[str, Any]) -> list[Any]:
    """Return how a contradiction was decided on a side of a merge; that it was left or made open is a ruling, too."""
    if "outcome" in held:
        return [held["outcome"]]
    return list(held.get("rulings", [held["status"]] if "status" in held else []))


def _value(name: str, one: Scalar, other: Scalar) -> Scalar:
    if one == other:
        return one
    if one is None or other is None:
        return other if one is None else one
    value: Scalar = _RULES.get(name, _larger)(one, other)
    return value


def _larger(one: Any, other: Any) -> Any:
    return max(one, other, key=_order)


def _smaller(one: Any, other: Any) -> Any:
    return min(one, other, key=_order)


def _order(value: object) -> tuple[float, bytes]:
    """Order values of any kind: numbers by size, anything else by how it is written."""
    number = float(value) if isinstance(value, int | float) else float("-inf")
    return number, canonical_json(value)


def _more_ended(one: Any, other: Any) -> Any:
    return max(one, other, key=lambda status: (_STATUSES.index(status) if status in _STATUSES else -1, str(status)))


def _weaker(one: Any, other: Any) -> Any:
    return max(one, other, key=lambda trust: (Trust(trust).rank, trust))


def _told_here(one: Any, other: Any) -> Any:
    """Return what names no stranger, where one side's does."""
    return max(one, other, key=lambda told: (not str(told).startswith(STRANGERS), _order(told)))


def _words(one: Any, other: Any) -> str:
    words = sorted({*words_of(str(one)), *words_of(str(other))})
    return relation_of(words)


def _attributes(one: Any, other: Any) -> Any:
    """Join two JSON texts key by key."""
    try:
        both = _tree(json.loads(one), json.loads(other))
    except (TypeError, ValueError, RecursionError):
        return _larger(one, other)
    return json.dumps(both, ensure_ascii=False, sort_keys=True)


def _tree(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other})
        return {
            key: _tree(one[key], other[key]) if key in one and key in other else one.get(key, other.get(key))
            for key in keys
        }
    return max(one, other, key=lambda value: (_TYPES.index(type(value)), _order(value)))


_RULES: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "attributes": _attributes,
        "confidence": _smaller,
        "consolidated_at": _smaller,
        "created_at": _smaller,
        "ended_at": _smaller,
        "relation": _words,
        "retired_at": _smaller,
        "slice": _told_here,
        "started_at": _smaller,
        "status": _more_ended,
        "trust": _weaker,
        "valid_from": _smaller,
        "valid_to": _smaller,
    }
)
"""How properties are joined; of any other the larger value stays (counters, times of use, words)."""
