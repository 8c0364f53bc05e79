"""Entity: a thing that episodes and memories speak of; what the graph walks over."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, NamedTuple

from helix.model.memory import GLOBAL_SCOPE
from helix.model.worded import Worded


class EntityKind(Worded):
    """Kinds of entity; all but `person` and `concept` are found without a model."""

    FILE = "file", "A file or folder, by its path."
    SYMBOL = "symbol", "A function, class or other name in code."
    COMMAND = "command", "A command line, in its normal form."
    ERROR = "error", "An error, by its normal form."
    PACKAGE = "package", "A package or library."
    TEST = "test", "A test."
    COMMIT = "commit", "A commit, by its hash."
    URL = "url", "An address on the web."
    PERSON = "person", "A person; found by a model alone."
    CONCEPT = "concept", "A matter that has a name; found by a model alone."


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """An entity as found in a text, before it has an id. `name` is in canonical form."""

    kind: EntityKind
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One thing spoken of. Its id is derived from kind, name and scope, so that finding it again is free."""

    id: str
    kind: Annotated[EntityKind, "The kind of thing."]
    name: Annotated[str, "Its name in canonical form."]
    scope: str = GLOBAL_SCOPE


def entity_id(kind: EntityKind, name: str, scope: str = GLOBAL_SCOPE) -> str:
    """Return the id of an entity: 32 hexadecimal digits that kind, case-folded name and scope alone decide."""
    return sha256("\x1f".join((kind.value, name.casefold(), scope)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class FoundEntity(NamedTuple):
    """An entity at the half-open range [start, end) of a text; `name` is in canonical form."""

    start: int
    end: int
    kind: EntityKind
    name: str
