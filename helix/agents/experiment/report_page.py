"""Report page: one file without scripts that asks for nothing from anywhere, for light and dark screens.

How it looks stands in its template, `report_page.html` beside this; here is where on it everything lies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from helix.agents.experiment.effect import wilson
from helix.model.proof import Arm, Period, Report

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATE = Path(__file__).with_suffix(".html")
_WIDTH, _HEIGHT, _BARS = 760.0, 240.0, 70.0
_LEFT, _RIGHT, _TOP = 46.0, 12.0, 12.0
_MOST_LABELS = 8
_APART = 12.0
"""How far the intervals of a single day are drawn from its middle, so that neither hides the other."""


def page(report: Report) -> str:
    """Return the experiment's report as an HTML document; every word that comes from the store is escaped."""
    shown = [(report.with_memory, "with memory", "with"), (report.undrawn, "with memory, not drawn", "")]
    return (
        _environment()
        .get_template(_TEMPLATE.name)
        .render(
            report=report,
            shown=[one for one in shown if one[0].tasks] or shown[:1],
            lifts=_lifts(report) if report.delivered else None,
            plot=_plot(report.periods) if report.periods else None,
            arms=list(_arms(report)),
            leaders=[
                (one.name, one.kind, one.shown, one.helped, one.claimed, one.failed, one.unused, one.withheld)
                for one in report.leaders
            ],
        )
    )


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only where a page is made

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATE.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_written,
    )
    environment.filters["shown"] = format
    return environment


def _written(value: object) -> object:
    return f"{value:.1f}" if isinstance(value, float) else value


def _lifts(report: Report) -> Mapping[str, object]:
    """Return where the differences lie, with their intervals, about 0 in the middle."""
    known = [
        (lift, name, better)
        for lift, name, better in (
            (report.delivered, "delivered", 1),
            (report.repeated, "met a known failure", -1),
        )
        if lift is not None
    ]
    most = max(0.05, *(abs(end) for lift, _, _ in known for end in (lift.low, lift.high)))
    half = (_WIDTH - 150 - _RIGHT) / 2
    middle = _WIDTH - _RIGHT - half

    def across(value: float) -> float:
        return middle + value / (most * 1.1) * half

    rows = [
        {
            "name": name,
            "y": 28.0 + 40 * place,
            "low": across(lift.low),
            "x": across(lift.value),
            "high": across(lift.high),
            "points": 100 * lift.value,
            "colour": "--soft" if not lift.sure else "--good" if lift.value * better > 0 else "--bad",
        }
        for place, (lift, name, better) in enumerate(known)
    ]
    marks = [(across(value), 100 * value) for value in (-most, 0.0, most)]
    return {"width": _WIDTH, "height": 40.0 * len(rows) + 34, "middle": middle, "rows": rows, "marks": marks}


def _plot(periods: Sequence[Period]) -> Mapping[str, object]:
    """Return where the shares so far lie, and below them the bars of what ended in each period."""
    step = (_WIDTH - _LEFT - _RIGHT) / len(periods)
    xs = [_LEFT + step * (place + 0.5) for place in range(len(periods))]
    curves = (
        _curve(xs, [one.with_delivered for one in periods], [one.with_ended for one in periods], "--with", ""),
        _curve(
            xs, [one.without_delivered for one in periods], [one.without_ended for one in periods], "--without", "7 4"
        ),
    )
    most = max(max(one.with_ended, one.without_ended) for one in periods) or 1
    wide = min(step * 0.38, 16.0)
    bars = [
        bar
        for x, one in zip(xs, periods, strict=True)
        for bar in (
            (x - wide, wide, _BARS * one.with_ended / most, "--with"),
            (x, wide, _BARS * one.without_ended / most, "--without"),
        )
    ]
    every = -(-len(periods) // _MOST_LABELS)
    return {
        "width": _WIDTH,
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "floor": _TOP + _HEIGHT + 34 + _BARS,
        "tallest": _BARS,
        "grid": [(_y(tenths / 10), tenths) for tenths in range(0, 11, 2)],
        "curves": [curve for curve in curves if curve],
        "bars": bars,
        "labels": [(min(x, _WIDTH - 34), one.start) for x, one in zip(xs[::every], periods[::every], strict=True)],
        "most": most,
    }


def _curve(
    xs: Sequence[float], delivered: Sequence[int], ended: Sequence[int], colour: str, dash: str
) -> Mapping[str, object] | None:
    """Return the share so far as a line, with its interval as a band around it, from the first case on.

    The band of a single day would have no width: a whisker stands for it.
    """
    so_far = zip(xs, accumulate(delivered), accumulate(ended), strict=True)
    known = [(x, hit / count, *wilson(hit, count)) for x, hit, count in so_far if count]
    if not known:
        return None
    whisker = None
    if len(known) == 1:
        ((x, share, low, high),) = known
        x += _APART if dash else -_APART
        known, whisker = [(x, share, low, high)], (x, _y(low), _y(high))
    band = [*((x, high) for x, _, _, high in known), *((x, low) for x, _, low, _ in reversed(known))]
    x, share, _, _ = known[-1]
    return {
        "colour": colour,
        "dash": dash,
        "whisker": whisker,
        "band": _points(band),
        "line": _points([(x, share) for x, share, _, _ in known]),
        "x": x,
        "y": _y(share),
    }


def _points(shares: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{_y(share):.1f}" for x, share in shares)


def _y(share: float) -> float:
    return _TOP + _HEIGHT * (1 - share)


def _arms(report: Report) -> Iterator[tuple[object, ...]]:
    named = (("with memory", report.with_memory), ("held back", report.held_back), ("not drawn", report.undrawn))
    for name, arm in named:
        if arm.tasks or name != "not drawn":
            yield _arm_row(name, arm)


def _arm_row(name: str, arm: Arm) -> tuple[object, ...]:
    counts = (arm.tasks, arm.delivered.hits, arm.blocked, arm.skipped, arm.open, arm.failed_checks, arm.repeated.hits)
    return (name, *counts, f"{arm.tokens:,}")
