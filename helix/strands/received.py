"""Received: what comes from another store is believed as far as its signer is, cleaned of secrets and screened anew."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace

from helix.errors import InvalidInputError
from helix.memory.capture.quarantine import ACCEPTED_BY, screen
from helix.memory.capture.sessions import name_of_session
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.memory.change.versions import SAID_INSTEAD
from helix.memory.erasure.stored_secrets import Redact, Remembering, texts_of, without_secrets
from helix.memory.scores import bounded_confidence
from helix.model.edge import DRAWN, MERGED, Label, Relation, relation_of, words_of
from helix.model.entity import EntityKind, entity_id
from helix.model.foreign_rows import check_row
from helix.model.memory import GLOBAL_SCOPE, Status
from helix.model.operations import Props, PutEdge, PutNode, Scalar
from helix.model.provenance import STRANGERS, Provenance, Trust, weakest_trust
from helix.model.records import CLASS_OF, edge_from, node_from, property_types
from helix.model.tombstone import is_tombstone
from helix.strands.rows import StrandRow, read_json, row_of
from helix.text.chunks import MOST_CHUNKS, chunks
from helix.text.cleaning import clean, given_name, slug
from helix.text.client_ids import told_id
from helix.text.structured import MOST_NESTED, is_too_nested

_SCREENED = frozenset({Label.MEMORY, Label.EPISODE, Label.REFLECTION})
_RECALLED = frozenset({Status.ACTIVE, Status.ARCHIVED})
_WORK = frozenset({Label.PLAN, Label.TASK, Label.EXPLORATION, Label.WORKSPACE})
_LONGEST_LABEL = 1_000
_TEXTS_OF_ROW, _TEXTS_OF_ONE = 8, 2
"""Texts of the longest kind that a row may come to (what it says, its attributes, and what it is found by), and each
of its texts, which has become longer where a secret was taken out of it."""
_LABELS = ("agent", "extractor", "model", "session", "slice", "source")
TIMES = ("recorded_at", "created_at", "occurred_at")
"""When a row happened and was recorded: not after now, and where it is here already, as it is here."""
COUNTED = ("helped", "failed", "uses")
"""What a memory has earned: nothing of it is taken from somebody else."""
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """Who signed a strand: its `name` here, how far it is believed, and whether it is the person's own key."""

    name: str
    trust: Trust

    @property
    def is_own(self) -> bool:
        """Whether strands that it signed count as this person's own: nothing of them is believed less than here."""
        return self.trust is Trust.USER_ASSERTED


@dataclass(slots=True)
class Received:
    """Makes rows of a signer into rows that may be stored here; counts what it had to change."""

    signer: Signer
    text_limit: int
    latest: int
    """Now, in microseconds since 1970: nothing was recorded later."""
    redact: Redact = field(default_factory=Remembering)
    redacted: int = 0
    quarantined: int = 0

    def row(self, row: StrandRow) -> StrandRow | None:
        """Return a strand's row as it may be stored, None for one that is excluded.

        Left out are tombstones of others and what is in their learning queue: they would keep things out of this store.
        So are plans and tasks of those who are believed less than an agent: they would say what is to be done here.
        And so is what is longer, or found by more texts, than anything that is said here: every recall would read it.
        What is of a scope or session whose name holds a secret stays out, too.
        Raises InvalidInputError for what is no node or edge of this version of Helix.
        """
        try:
            return self._row(row)
        except RecursionError as error:
            raise InvalidInputError("the strand has a row that is none: its attributes have no end") from error

    def _row(self, row: StrandRow) -> StrandRow | None:
        put = row.put
        _check(put)
        if isinstance(put, PutNode) and not (self.signer.is_own or _is_id(put)):
            raise InvalidInputError(f"the strand has a {put.label.lower()} under an id that is none: {put.id!r:.80}")
        if not self.signer.is_own and (
            row.is_erased or self._is_to_decide(put) or self._is_too_long(row) or self._is_named_by_secret(row)
        ):
            return None
        props = {**put.props, **self._trusted(put)}
        if isinstance(put, PutNode) and is_tombstone(props) and not self.signer.is_own:
            return None  # as its labels say now that they are clean
        label, ident = (put.label, put.id) if isinstance(put, PutNode) else (None, "")
        changed = without_secrets(label, ident, props, self.redact)
        texts = tuple(self.redact(text, "").text for text in row.texts)
        self.redacted += bool(changed) or texts != row.texts
        props.update(changed)
        if not self.signer.is_own:
            texts = _stated_texts(texts, props)
        if isinstance(put, PutNode):
            props.update(self._screened(put.label, props))
        return row_of(replace(put, props=props), texts, row.scope)

    def _trusted(self, put: PutNode | PutEdge) -> dict[str, Scalar]:
        """Return the properties that say no more than the signer is believed."""
        if self.signer.is_own:
            return {}
        stated = Trust(str(put.props.get("trust", Provenance().trust)))
        labels = {name: value for name in _LABELS if isinstance(value := put.props.get(name), str)}
        props: dict[str, Scalar] = {name: _one_line(value) for name, value in labels.items()}
        props |= {name: min(at, self.latest) for name in TIMES if isinstance(at := put.props.get(name), int)}
        props["slice"] = STRANGERS + str(props.get("slice") or "").removeprefix(STRANGERS)
        if isinstance(put, PutEdge) or "trust" in property_types(CLASS_OF[put.label]):
            props["trust"] = weakest_trust(stated, self.signer.trust).value
        if isinstance(put, PutEdge):
            told = json.loads(str(put.props.get("attributes") or "{}"))
            kept = {name: True for name in (DRAWN, MERGED) if told.get(name) is True}
            word = str(put.props.get("relation") or "")
            props["relation"] = word if word == SAID_INSTEAD else relation_of(words_of(word))
            return {**props, "attributes": json.dumps(kept)} if told != kept else props
        if put.label is Label.MEMORY:
            props["name"] = given_name(str(put.props["name"]))[:_LONGEST_LABEL] or slug(str(put.props["trigger"]))
            trust, sure = Trust(str(props["trust"])), put.props.get("confidence")
            if isinstance(sure, int | float):
                props["confidence"] = bounded_confidence(float(sure), trust)
            props.update({name: 0 for name in COUNTED if name in put.props})
        if "attributes" in put.props:
            props["attributes"] = _foreign(str(put.props["attributes"]))
        if source := str(props.get("source") or "").removeprefix(STRANGERS):
            props["source"] = STRANGERS + source  # what is read here of the same source is new
        return props

    def _is_named_by_secret(self, row: StrandRow) -> bool:
        """Return whether a secret stands in its scope or in the name of a session, which are ids and stay as told."""
        scope, put = row.scope, row.put
        name = name_of_session(scope, put.id) if isinstance(put, PutNode) and put.label is Label.SESSION else ""
        return self.redact(scope, "").text != scope or told_id(name) != name

    def _is_to_decide(self, put: PutNode | PutEdge) -> bool:
        """Return whether it says what is to be done, or what became of a candidate or a contradiction.

        Neither is asked again where that was decided. What contradicts is found anew, by the rules of this store.
        """
        if isinstance(put, PutEdge) or put.label is Label.CANDIDATE:
            return isinstance(put, PutNode) or put.type is Relation.CONTRADICTS
        return put.label in _WORK and self.signer.trust.rank > Trust.AGENT_INFERRED.rank

    def _is_too_long(self, row: StrandRow) -> bool:
        said = (*row.texts, *(str(value) for name, value in row.put.props.items() if name != "attributes"))
        longest = max(map(len, said), default=0)
        heavy = row.weight > _TEXTS_OF_ROW * self.text_limit or len(row.texts) > MOST_CHUNKS
        return heavy or longest > _TEXTS_OF_ONE * self.text_limit

    def _screened(self, label: Label, props: Props) -> dict[str, Scalar]:
        if label not in _SCREENED or (self.signer.is_own and props.get("status") not in _RECALLED):
            return {}  # of others whatever status they say: what has faded or ended is found, too, or may come back
        accepted = self.signer.is_own and ACCEPTED_BY in str(props.get("attributes", ""))
        trust = Trust(str(props.get("trust", Provenance().trust)))
        texts = [said.text for said in texts_of(props)]
        if accepted or screen(trust, *texts).status is Status.ACTIVE:
            return {}
        self.quarantined += 1
        return {"status": Status.QUARANTINED.value}


def _stated_texts(texts: tuple[str, ...], props: Props) -> tuple[str, ...]:
    """Return the texts that a node is found by, of those that it says: nobody sees another, and nothing screens it."""
    said = "\n".join(one.text for one in texts_of(props) if one.place not in ("name", "slice"))
    words = set(said.split())
    kept = tuple(text for text in texts if words.issuperset(text.split()))
    return kept if kept or not texts else tuple(chunks(said))


def _one_line(label: str) -> str:
    """Return a label as any that comes in is kept: names are shown without quotes."""
    return " ".join(clean(label).split())[:_LONGEST_LABEL]


def _foreign(attributes: str) -> str:
    """Return attributes without those that only Helix sets: what is said by them holds for another store."""
    held = json.loads(attributes or "{}")
    kept = {name: value for name, value in held.items() if not name.startswith(OWN_ATTRIBUTE)}
    return json.dumps(kept, ensure_ascii=False, sort_keys=True)


def _is_id(put: PutNode) -> bool:
    """Return whether a node's id is one that Helix gives; a name as an id would be found in place of what has it."""
    if put.label in (Label.ENTITY, Label.SESSION):  # they are made of names
        scope = str(put.props.get("scope"))
        its_own = put.label is Label.ENTITY or scope == GLOBAL_SCOPE or put.id.startswith(f"{scope}/")
        return its_own and "\n" not in put.id and clean(put.id) == put.id
    return _ID.fullmatch(put.id) is not None


def _check(put: PutNode | PutEdge) -> None:
    """Raise InvalidInputError for a row that Helix would not write."""
    try:
        for name, value in put.props.items():
            _check_value(name, value)
        check_row(put)
        if isinstance(put, PutEdge):
            edge_from(put)
            return
        node_from(put.label, put.id, put.props)
        if put.label is Label.ENTITY:
            kind, name, scope = (str(put.props[one]) for one in ("kind", "name", "scope"))
            if put.id != entity_id(EntityKind(kind), name, scope):
                raise ValueError("the id of an entity is not made of its name")
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidInputError(
            f"the strand holds what this version of Helix cannot: {str(error)[:_LONGEST_LABEL]}",
            hint="upgrade Helix where the strand is newer; otherwise ask its signer for another one",
        ) from error


def _check_value(name: str, value: object) -> None:
    """Raise ValueError for a property of any row that no store of Helix has."""
    if isinstance(value, str) and "\0" in value:
        raise ValueError(f"{name} has a NUL character")
    if name == "attributes":
        said = read_json(str(value).encode())
        if not isinstance(said, dict) or is_too_nested(said):
            raise ValueError(f"attributes are no object of at most {MOST_NESTED} tables in one another")
    if name == "scope" and not (isinstance(value, str) and value and _one_line(value) == value):
        raise ValueError("a scope is none")
