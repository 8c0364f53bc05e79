"""Reports of speed: every figure beside the one to reach, met or missed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A figure to reach: where it is in the result, and the most (or, with `at_least`, the least) it may be."""

    what: str
    at: tuple[str, ...]
    bound: float
    unit: str = "ms"
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Return whether the value reaches it."""
        return value >= self.bound if self.at_least else value <= self.bound


TARGETS = (
    Target(what="recall end to end, 1 client, p50", at=("end_to_end", "1", "p50_ms"), bound=25),
    Target(what="recall end to end, 1 client, p95", at=("end_to_end", "1", "p95_ms"), bound=40),
    Target(what="without the query's embedding, p95", at=("end_to_end_embedded", "p95_ms"), bound=30),
    Target(what="recall end to end, 16 clients, p95", at=("end_to_end", "16", "p95_ms"), bound=400),
    Target(
        what="throughput / (cores in use / CPU of a recall)",
        at=("throughput", "share_of_cores_in_use"),
        bound=0.75,
        unit="",
        at_least=True,
    ),
    Target(what="filtered (1 %) / unfiltered, p50", at=("filtered", "ratio_p50"), bound=1.5, unit="x"),
    Target(what="answers outside the filter", at=("filtered", "outside_the_filter"), bound=0, unit=""),
    Target(
        what="vector arm against exact search, recall@20",
        at=("inside", "vector", "all", "recall@20"),
        bound=0.99,
        unit="",
        at_least=True,
    ),
    Target(
        what="the same with the filter",
        at=("inside", "vector", "filtered", "recall@20"),
        bound=1.0,
        unit="",
        at_least=True,
    ),
    Target(what="PageRank, p95", at=("inside", "pagerank", "p95_ms"), bound=10),
    Target(
        what="PageRank, top 100 also in the exact vector's",
        at=("inside", "pagerank", "overlap@100"),
        bound=0.99,
        unit="",
        at_least=True,
    ),
    Target(what="store one memory, acknowledged, p95", at=("storing", "p95_ms"), bound=40),
    Target(what="of which the journal, p95", at=("inside", "storing", "journal", "p95_ms"), bound=5),
    Target(what="start to first answer", at=("start_seconds", "after_a_clean_stop"), bound=3, unit="s"),
    Target(what="start to first answer after kill -9", at=("start_seconds", "after_kill_9"), bound=3, unit="s"),
    Target(what="resident memory", at=("memory", "resident_mb"), bound=1_200, unit="MB"),
    Target(what="the same, settings for low memory", at=("low_memory", "memory", "resident_mb"), bound=600, unit="MB"),
    Target(
        what="bulk import before the index build",
        at=("build", "bulk_per_second"),
        bound=1_500,
        unit="/s",
        at_least=True,
    ),
)
"""Figures to reach at 100,000 memories on two cores with nothing else running."""

_REST = (
    "failed",
    "build",
    "memory",
    "low_memory",
    "start_seconds",
    "insert_per_second",
    "disk_bytes",
    "throughput",
    "inside",
)
"""What is shown as it is."""


def tables(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of everything that was measured."""
    yield f"{result['nodes']:,} memories, {result['build']['edges']:,} edges"
    yield f"{result['machine']}, load {result['load_at_start']} at the start"
    yield ""
    yield from _columns([("what", "figure", "target", ""), *(_line(target, result) for target in TARGETS)])
    yield ""
    yield from _timed("clients", result["end_to_end"], ("p50_ms", "p95_ms", "p99_ms", "per_second", "cores_in_use"))
    yield ""
    yield from _timed("stage (1 client)", result["stages"], ("p50_ms", "p95_ms", "p99_ms"))
    yield ""
    yield from _memory(result)
    yield ""
    for name in _REST:
        if name in result:
            yield f"{name}: {result[name]}"


def value_at(result: Mapping[str, Any], path: tuple[str, ...]) -> float | None:
    """Return a figure of the result, or None where it was not measured."""
    found: Any = result
    for key in path:
        if not isinstance(found, Mapping) or found.get(key) is None:
            return None
        found = found[key]
    return float(found)


def _line(target: Target, result: Mapping[str, Any]) -> tuple[str, str, str, str]:
    value = value_at(result, target.at)
    bound = f"{'>=' if target.at_least else '<='} {target.bound:,g} {target.unit}".rstrip()
    if value is None:
        return target.what, "-", bound, _why(result, target.at)
    return target.what, f"{value:,.4g} {target.unit}".rstrip(), bound, "met" if target.met(value) else "MISSED"


def _why(result: Mapping[str, Any], path: tuple[str, ...]) -> str:
    """Return "not measured" with the reason that stands beside the missing figure, if one does."""
    beside: Any = result
    for key in path[:-1]:
        beside = beside.get(key, {})
    return f"not measured: {beside['why']}" if "why" in beside else "not measured"


def _memory(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield what each set of settings holds resident, and what of it is no mapping of a file."""
    for name in ("memory", "low_memory"):
        if name not in result:
            continue
        held = result[name]["memory"] if name == "low_memory" else result[name]
        set_to = result[name]["settings"] if name == "low_memory" else {}
        named = ", ".join(f"{key}={value}" for key, value in set_to.items()) or "settings as they come"
        anonymous = f"{held['anonymous_mb']:,g} MB of it anonymous" if "anonymous_mb" in held else "all of it"
        yield f"resident, {named}: {held['resident_mb']:,g} MB, {anonymous}"


def _timed(heading: str, rows: Mapping[str, Mapping[str, Any]], keys: tuple[str, ...]) -> Iterator[str]:
    lines = [
        (name, *(f"{row[key]:,.2f}" if row[key] is not None else "-" for key in keys)) for name, row in rows.items()
    ]
    return _columns([(heading, *keys), *lines])


def _columns(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        yield "  ".join(cells).rstrip()
