"""Node columns: the layout of the catalogue's table, and how a node's properties become one row of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from helix.errors import InvalidInputError
from helix.model.clock import DAY_MICROS
from helix.model.edge import Label
from helix.model.entity import EntityKind
from helix.model.episode import CAPTURE
from helix.model.memory import TIER_HALF_LIFE_DAYS, Kind, Status, Tier, counted
from helix.model.operations import Props
from helix.model.provenance import Trust
from helix.scopes import scope_key

BoolArray = npt.NDArray[np.bool_]
CodeArray = npt.NDArray[np.int8]
RowArray = npt.NDArray[np.int32]
IndexArray = npt.NDArray[np.int64]
MicrosArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
_T = TypeVar("_T", bound=np.generic)

NO_START = int(np.iinfo(np.int64).min)
"""Stands for an absent beginning: earlier than every moment."""
NO_END = int(np.iinfo(np.int64).max)
"""Stands for an absent end: later than every moment."""
NO_CODE = -1

LABELS = tuple(Label)
KINDS = tuple(Kind)
ENTITY_KINDS = tuple(EntityKind)
STATUSES = tuple(Status)
TRUSTS = tuple(Trust)
LABEL_CODE: Mapping[str, int] = {label: code for code, label in enumerate(LABELS)}
KIND_CODE: Mapping[str, int] = {kind: code for code, kind in enumerate(KINDS)}
ENTITY_KIND_CODE: Mapping[str, int] = {kind: code for code, kind in enumerate(ENTITY_KINDS)}
STATUS_CODE: Mapping[str, int] = {status: code for code, status in enumerate(STATUSES)}
TRUST_CODE: Mapping[str, int] = {trust: code for code, trust in enumerate(TRUSTS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeColumns:
    """One array per column, all of one length: the number of rows published with them. None is ever written to.

    Times are microseconds since the epoch with NO_START or NO_END for an absent one. `kind` is a code of KINDS for
    memories, of ENTITY_KINDS for entities, NO_CODE for the rest. `occurred_at` is NO_START where the node has no event
    time of its own. `fades_at` is the moment at which salience meets the floor. `captured` marks the episodes that were
    recorded as they happened; the others were imported, or say what a memory says.
    """

    label: CodeArray
    kind: CodeArray
    status: CodeArray
    trust: CodeArray
    scope: RowArray
    session: RowArray
    uses: RowArray
    importance: FloatArray
    confidence: FloatArray
    helped: FloatArray
    failed: FloatArray
    half_life: FloatArray
    valid_from: MicrosArray
    valid_to: MicrosArray
    recorded_at: MicrosArray
    retired_at: MicrosArray
    occurred_at: MicrosArray
    last_used_at: MicrosArray
    fades_at: MicrosArray
    consolidated: BoolArray
    captured: BoolArray

    def at(self, rows: IndexArray) -> NodeColumns:
        """Return the catalogue's columns of the rows alone, in their order."""
        return NodeColumns(**{name: getattr(self, name)[rows] for name in COLUMN_NAMES})


_TYPES: Mapping[str, type[np.generic]] = {
    **dict.fromkeys(("label", "kind", "status", "trust"), np.int8),
    **dict.fromkeys(("scope", "session", "uses"), np.int32),
    **dict.fromkeys(("importance", "confidence", "helped", "failed", "half_life"), np.float64),
    **dict.fromkeys(("valid_from", "valid_to", "recorded_at", "retired_at", "occurred_at", "last_used_at"), np.int64),
    "fades_at": np.int64,
    **dict.fromkeys(("consolidated", "captured"), np.bool_),
}
COLUMN_NAMES = tuple(field.name for field in fields(NodeColumns))
POSITION: Mapping[str, int] = {name: position for position, name in enumerate(COLUMN_NAMES)}
FADING_INPUTS = frozenset(POSITION[name] for name in ("importance", "half_life", "recorded_at", "last_used_at"))

_ABSENT: Mapping[str, Any] = {
    "label": NO_CODE,
    "kind": NO_CODE,
    "status": STATUS_CODE[Status.ACTIVE],
    "trust": TRUST_CODE[Trust.AGENT_INFERRED],
    "scope": 0,
    "session": NO_CODE,
    "uses": 0,
    "importance": 5.0,
    "confidence": 0.7,
    "helped": 0.0,
    "failed": 0.0,
    "half_life": 0.0,
    "valid_from": NO_START,
    "valid_to": NO_END,
    "recorded_at": NO_START,
    "retired_at": NO_END,
    "occurred_at": NO_START,
    "last_used_at": NO_START,
    "fades_at": NO_END,
    "consolidated": False,
    "captured": False,
}
HOLE: Mapping[str, int] = {"label": NO_CODE, "kind": NO_CODE, "status": STATUS_CODE[Status.FORGOTTEN]}
"""What the columns hold of a row whose node was dropped: no label, and a status through which no walk passes."""

_LABEL_ABSENT: Mapping[Label, Mapping[str, Any]] = {
    Label.EPISODE: {"importance": 3.0, "half_life": TIER_HALF_LIFE_DAYS[Tier.EPISODIC]},
    Label.REFLECTION: {"confidence": 0.5},
}
_MAX_FADING_DAYS = 1e6
"""Bound on how far ahead a fading moment lies, so that it stays far from the end of int64."""


class Vocabulary:
    """Codes for an open set of words, in order of appearance; only the writer adds, anyone may look up."""

    def __init__(self, *words: str) -> None:
        self._words = list(words)
        self._codes = {self._key(word): code for code, word in enumerate(words)}

    def add(self, word: str) -> int:
        """Return the code of a word in the catalogue's columns, giving it one if it has none."""
        code = self._codes.get(self._key(word))
        if code is None:
            code = len(self._words)
            self._words.append(word)
            self._codes[self._key(word)] = code
        return code

    def code(self, word: str) -> int:
        """Return the code of a word in the catalogue's columns, or NO_CODE."""
        return self._codes.get(self._key(word), NO_CODE)

    def word(self, code: int) -> str:
        """Return the word of a code in the catalogue's columns."""
        return self._words[code]

    def words(self) -> list[str]:
        """Return the words that the catalogue's columns have codes for now, in the order of these."""
        return self._words.copy()

    def __len__(self) -> int:
        return len(self._words)

    def _key(self, word: str) -> str:
        return word


class Scopes(Vocabulary):
    """Codes for scopes: those that are told apart by nothing that counts (`scope_key`) have one."""

    def _key(self, word: str) -> str:
        return scope_key(word)


_Cell = tuple[int, Any, Callable[[Any], Any]]
"""Where a property goes: the position of its column, what stands for None there, how to convert any other value."""


class RowLayout:
    """How the properties of each label become a row: a list of values in the order of COLUMN_NAMES.

    The first scope of the vocabulary is that of a node which names none.
    """

    def __init__(self, scopes: Vocabulary, sessions: Vocabulary) -> None:
        times = {name: (name, int) for name in ("valid_from", "valid_to", "recorded_at", "retired_at", "last_used_at")}
        scope: dict[str, tuple[str, Callable[[Any], Any]]] = {"scope": ("scope", scopes.add)}
        trust = {"trust": ("trust", TRUST_CODE.__getitem__)}
        status = {"status": ("status", STATUS_CODE.__getitem__)}
        numbers = {name: (name, float) for name in ("importance", "confidence", "helped", "failed")}
        recorded = {"recorded_at": ("recorded_at", int)}
        self._cells: dict[Label, dict[str, _Cell]] = {}
        self._blank: dict[Label, list[Any]] = {}
        self._describe(
            Label.MEMORY,
            scope | trust | status | numbers | times,
            {"kind": ("kind", KIND_CODE.__getitem__), "uses": ("uses", counted)}
            | {"half_life_days": ("half_life", float)},
        )
        self._describe(
            Label.EPISODE,
            scope | trust | status | recorded,
            {
                "session": ("session", sessions.add),
                "importance": ("importance", float),
                "occurred_at": ("occurred_at", int),
                "consolidated_at": ("consolidated", _is_set),
                "extractor": ("captured", CAPTURE.__eq__),
            },
        )
        self._describe(Label.REFLECTION, scope | trust | status | times, {"confidence": ("confidence", float)})
        self._describe(Label.ENTITY, scope, {"kind": ("kind", ENTITY_KIND_CODE.__getitem__)})
        self._describe(Label.SESSION, scope, {"started_at": ("recorded_at", int)})
        self._describe(Label.PLAN, scope, recorded)
        session: dict[str, tuple[str, Callable[[Any], Any]]] = {"session": ("session", sessions.add)}
        for label in (Label.TASK, Label.EXPLORATION):
            self._describe(label, scope, recorded, session)
        self._describe(Label.CANDIDATE, scope, recorded, session, {"decided_at": ("retired_at", int)})
        self._describe(Label.WORKSPACE, scope, recorded)

    def _describe(self, label: Label, *groups: Mapping[str, tuple[str, Callable[[Any], Any]]]) -> None:
        absent = {**_ABSENT, **_LABEL_ABSENT.get(label, {}), "label": LABEL_CODE[label]}
        self._blank[label] = [absent[name] for name in COLUMN_NAMES]
        self._cells[label] = {
            prop: (POSITION[column], absent[column], convert)
            for group in groups
            for prop, (column, convert) in group.items()
        }

    def blank(self, label: Label) -> list[Any]:
        """Return a catalogue row of a label with every value absent."""
        return self._blank[label].copy()

    def changes(self, label: Label, node_id: str, props: Props) -> list[tuple[int, Any]]:
        """Return (column position, value) of every property that has a column in the store's catalogue.

        Raises InvalidInputError for a value that is no code, number or time of its column.
        """
        cells = self._cells[label]
        found: list[tuple[int, Any]] = []
        prop: str = ""
        try:
            for prop, value in props.items():
                cell = cells.get(prop)
                if cell is not None:
                    position, absent, convert = cell
                    found.append((position, absent if value is None else convert(value)))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{label} {node_id} has {prop} {props[prop]!r}, which is not a value of it"
            ) from error
        return found


def _is_set(_: Any) -> bool:
    return True


def empty_columns(capacity: int) -> dict[str, npt.NDArray[Any]]:
    """Return writable arrays for every column of the catalogue; the content is arbitrary until a row is written."""
    return {name: np.empty(capacity, _TYPES[name]) for name in COLUMN_NAMES}


def grown(columns: Mapping[str, npt.NDArray[Any]], count: int, capacity: int) -> dict[str, npt.NDArray[Any]]:
    """Return the catalogue's columns with room for `capacity` rows, beginning with the first `count` old ones."""
    larger = empty_columns(capacity)
    for name, array in columns.items():
        larger[name][:count] = array[:count]
    return larger


def shrunk_effectiveness(helped: FloatArray, failed: FloatArray) -> FloatArray:
    """Return the effectiveness (helped + 1/2) / (helped + failed + 1), 0..1, that the store's catalogue holds."""
    helped, failed = np.maximum(helped, 0.0), np.maximum(failed, 0.0)  # no store counts below, but one of somebody else
    shrunk: FloatArray = (helped + 0.5) / (helped + failed + 1.0)
    return shrunk


def fading_moments(
    *, importance: FloatArray, half_life: FloatArray, recorded_at: MicrosArray, last_used_at: MicrosArray, floor: float
) -> MicrosArray:
    """Return the last moment (microseconds) at which each catalogue row's salience is not below the floor.

    Salience is importance * 2^(-days / half_life), days since the later of recording and last verified use. A half-life
    of 0 or infinity never fades (NO_END); an importance below the floor was never above it (NO_START).
    """
    since = np.maximum(recorded_at, last_used_at)
    if floor <= 0:
        return np.full(since.shape, NO_END, np.int64)
    fading = (half_life > 0) & (half_life < math.inf)
    days = np.where(fading, half_life, 0.0) * np.log2(np.maximum(importance, floor) / floor)
    ahead = (np.minimum(days, _MAX_FADING_DAYS) * DAY_MICROS).astype(np.int64)
    moments = np.where(importance >= floor, np.maximum(since, 0) + ahead, NO_START)
    return np.where(fading, moments, NO_END)


def distinct(values: npt.NDArray[_T]) -> npt.NDArray[_T]:
    """Return every value of the store's rows or keys once, ascending; np.unique hashes first and takes twice as long.

    Measured with 50 to 10,000 rows, numpy 2.4.
    """
    ascending = np.sort(values)
    return ascending[run_starts(ascending)]


def run_starts(values: npt.NDArray[Any]) -> IndexArray:
    """Return where a run of equal values begins among ascending rows or keys of the store."""
    starts = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=starts[1:])
    return np.flatnonzero(starts)
