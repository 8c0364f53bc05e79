"""The command line of the benchmarks."""

from __future__ import annotations

import click

from benchmarks.background import background
from benchmarks.concurrent import concurrent
from benchmarks.growth import growth
from benchmarks.history import history
from benchmarks.hooks import hooks
from benchmarks.month import month
from benchmarks.pairs import pairs
from benchmarks.poison import poison
from benchmarks.quality import quality
from benchmarks.speed import speed

cli = click.Group(
    commands={
        "background": background,
        "concurrent": concurrent,
        "growth": growth,
        "history": history,
        "hooks": hooks,
        "month": month,
        "pairs": pairs,
        "poison": poison,
        "quality": quality,
        "speed": speed,
    },
    help=__doc__,
)

if __name__ == "__main__":
    cli(prog_name="scripts/bench")
