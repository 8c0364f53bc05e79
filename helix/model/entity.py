"""Entity: a thing that episodes and memories speak of; what the graph walks over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Annotated

from helix.model.memory import GLOBAL_SCOPE


class EntityKind(StrEnum):
    """Kinds of entity; all but `person` and `concept` are found without a model."""

    FILE = "file"
    SYMBOL = "symbol"
    COMMAND = "command"
    ERROR = "error"
    PACKAGE = "package"
    TEST = "test"
    COMMIT = "commit"
    URL = "url"
    PERSON = "person"
    CONCEPT = "concept"


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
