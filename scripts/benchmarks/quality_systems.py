"""Systems compared: each arm alone, their fusion, what is added to it step by step, and every recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from helix.model.recall import Expand
from helix.recall.arms import MAX_TERMS


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A way to ask the same store: a recipe, how far the graph is walked, whether a cross-encoder reads the best.

    With `above_zero`, only what the recipe gives more than nothing counts as an answer.
    """

    name: str
    recipe: str
    expand: Expand = Expand.PAGERANK
    rerank: bool = False
    above_zero: bool = False


SYSTEMS = (
    System(name="bm25", recipe="bm25", expand=Expand.NONE, above_zero=True),
    System(name="vector", recipe="vector", expand=Expand.NONE, above_zero=True),
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

BASELINES = (
    "bm25, vector and rrf are recipes over the candidates of all arms. bm25 reads the "
    f"{MAX_TERMS} rarest words of a question; of bm25 and vector only what has a score above 0 counts."
)
"""What is to be known of the baselines where they are shown."""

AGAINST = ("bm25", "vector", "default-pagerank", "default-mmr", "default+rerank")
"""What the default is compared with, question by question."""
