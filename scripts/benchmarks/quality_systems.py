"""Systems compared: each arm alone, their fusion, what is added to it step by step, and every recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from helix.model.recall import Expand


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A way to ask the same store: a recipe, how far the graph is walked, whether a cross-encoder reads the best."""

    name: str
    recipe: str
    expand: Expand = Expand.PAGERANK
    rerank: bool = False


SYSTEMS = (
    System(name="bm25", recipe="bm25", expand=Expand.NONE),
    System(name="vector", recipe="vector", expand=Expand.NONE),
    System(name="rrf", recipe="rrf", expand=Expand.NONE),
    System(name="rrf+pagerank", recipe="rrf"),
    System(name="rrf+pagerank+mmr", recipe="rrf+mmr"),
    System(name="learning", recipe="learning"),
    System(name="poignancy", recipe="poignancy"),
    System(name="engineering", recipe="engineering"),
    System(name="default", recipe="default"),
    System(name="default-pagerank", recipe="default", expand=Expand.NONE),
    System(name="default-mmr", recipe="default-mmr"),
    System(name="default+rerank", recipe="default", rerank=True),
)

RECIPES: Mapping[str, Any] = {
    "rrf+mmr": {"base": "rrf", "diversity": 0.7},
    "default-mmr": {"base": "default", "diversity": 1.0},
}
"""What the systems need beside the recipes that Helix brings, as the setting `recipes`."""

AGAINST = ("bm25", "vector", "default-pagerank", "default-mmr", "default+rerank")
"""What the default is compared with, question by question."""
