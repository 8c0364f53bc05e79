"""Plots of what was measured, as PNG or SVG; without matplotlib nothing is drawn, and the caller says so."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Bars = Sequence[tuple[float, float, float]]
"""For each group a value with the bounds of its interval."""


def drawn(path: Path, draw: Callable[[Any], None], *, size: tuple[float, float] = (10.0, 4.5)) -> bool:
    """Write what `draw` puts on a matplotlib Axes of `size` inches to a file; return whether there is one now."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    from matplotlib.figure import Figure  # only here: the benchmarks run without it

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    draw(axes)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return True


def grouped_bars(path: Path, groups: Sequence[str], series: Mapping[str, Bars], *, title: str, unit: str) -> bool:
    """Draw for each group a bar of each series with its interval; return whether it was drawn."""

    def draw(axes: Any) -> None:
        width = 0.8 / len(series)
        for place, (name, bars) in enumerate(series.items()):
            at = [group + (place - (len(series) - 1) / 2) * width for group in range(len(groups))]
            values = [value for value, _, _ in bars]
            below = [max(0.0, value - lower) for value, lower, _ in bars]
            above = [max(0.0, upper - value) for value, _, upper in bars]
            whiskers = {"elinewidth": 0.8, "ecolor": "0.35"}
            axes.bar(at, values, width * 0.92, label=name, yerr=[below, above], error_kw=whiskers)
        axes.set_xticks(range(len(groups)), groups, rotation=20, ha="right")
        axes.set_ylabel(unit)
        axes.set_title(title)
        axes.legend(frameon=False, ncols=len(series), loc="upper left", bbox_to_anchor=(0.0, 1.0))
        axes.set_ylim(0.0, 1.15)

    return drawn(path, draw)
