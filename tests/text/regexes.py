"""Regexes: the patterns of Helix, and what they are made of as Python's own parser tells it."""

from __future__ import annotations

import importlib
import pkgutil
from re import _constants as sre  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

KINDS = {sre.CATEGORY_DIGIT: "1", sre.CATEGORY_WORD: "a", sre.CATEGORY_SPACE: " "}
REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


def patterns(package: ModuleType) -> list[tuple[str, int]]:
    """Return the patterns of a package's modules with their flags, in their order."""
    found: dict[tuple[str, int], None] = {}

    def look(value: Any, deep: int = 3) -> None:
        if isinstance(getattr(value, "pattern", None), str) and isinstance(getattr(value, "flags", None), int):
            found[value.pattern, value.flags] = None
        elif deep and isinstance(value, tuple | list | set | frozenset):
            for one in value:
                look(one, deep - 1)
        elif deep and isinstance(value, dict):
            look(list(value.values()), deep - 1)

    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        for value in list(vars(importlib.import_module(module.name)).values()):
            look(value)
    return list(found)


def within(op: Any, value: Any) -> list[Any]:
    """Return the patterns that a part of a pattern holds."""
    if op in REPEATS:
        return [value[2]]
    if op is sre.SUBPATTERN:
        return [value[3]]
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return [value[1]]
    return list(value[1]) if op is sre.BRANCH else [value] if op is sre.ATOMIC_GROUP else []
