"""Structured: texts in JSON data, each with the name that it stands under, by which it may be known as a secret."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Told = Callable[[str, str], str]
"""Returns how a text reads, given the name that it stands under ("" for a name itself) and the text."""

MOST_NESTED = 20
"""Tables and lists in one another that attributes may have."""

_NAMING = ("name", "key", "id", "field")
_TABLES = (Mapping, list, tuple)


def map_texts(value: Any, tell: Told, name: str = "") -> Any:
    """Return JSON data with every text and name in it as `tell` says; a number stays where its text does.

    Two names that read the same then are told apart by a number.
    """
    if isinstance(value, str):
        return tell(name, value)
    if isinstance(value, Mapping):
        return _members(value, tell, name)
    if isinstance(value, list | tuple):
        return [map_texts(item, tell, name) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        text = tell(name, str(value))
        return value if text == str(value) else text
    return value


def is_too_nested(value: Any) -> bool:
    """Return whether JSON data has more than MOST_NESTED tables or lists in one another.

    Whoever answers with it has less room for that than whoever wrote it: a list 480 deep was stored, and never read.
    """
    level = [value]
    for _ in range(MOST_NESTED + 1):
        tables = (one.values() if isinstance(one, Mapping) else one for one in level if isinstance(one, _TABLES))
        level = [item for table in tables for item in table]
        if not level:
            return False
    return True


def texts(value: Any) -> Iterator[tuple[str, str]]:
    """Yield every text of JSON data after the name that it stands under; names and numbers are texts too."""
    found: list[tuple[str, str]] = []

    def tell(name: str, text: str) -> str:
        found.append((name, text))
        return text

    map_texts(value, tell)
    yield from found


def _members(value: Mapping[Any, Any], tell: Told, name: str) -> dict[str, Any]:
    beside = {str(key).lower(): item for key, item in value.items()}
    # {"name": "DB_PASSWORD", "value": "..."}: the name stands beside its value.
    named = next((beside[key] for key in _NAMING if isinstance(beside.get(key), str)), "")
    members: dict[str, Any] = {}
    for key, item in value.items():
        said = tell("", str(key))
        own = said if said not in members else f"{said} {len(members)}"
        under = named if named and str(key).lower() == "value" else f"{name}.{key}"
        members[own] = map_texts(item, tell, under)
    return members
