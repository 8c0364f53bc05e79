"""Fingerprint: one word for every number that answers rest on, so that a measurement can say what it measured."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from types import ModuleType

from helix.recall import (
    arms,
    fusion,
    pack,
    pagerank,
    question,
    ranking,
    recipes,
    relevance,
    rerank,
    scoring,
    vector,
    walk,
)
from helix.recall.recipes import Recipe
from helix.store import bm25, projection

_MODULES: tuple[ModuleType, ...] = (
    *(arms, ranking, fusion, pack, pagerank, question, ranking, recipes),
    *(relevance, rerank, scoring, vector, walk, projection, bm25),
)


def fingerprint(recipe: Recipe) -> str:
    """Return 16 hex digits that change with any weight of the recipe and any constant of a module of the read path."""
    numbers = {
        module.__name__: {name: repr(value) for name, value in vars(module).items() if _is_number(name, value)}
        for module in _MODULES
    }
    told = {"recipe": type(recipe).__name__, "weights": repr(asdict(recipe)), "numbers": numbers}  # type: ignore[call-overload]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def _is_number(name: str, value: object) -> bool:
    """Whether a module's attribute is one of its constants: a number, or a table of them."""
    return name.lstrip("_").isupper() and isinstance(value, int | float | dict)
