"""The command line of the benchmarks."""

from __future__ import annotations

import click

from benchmarks.abstain import abstain
from benchmarks.background import background
from benchmarks.brief import brief, commands
from benchmarks.concurrent import concurrent
from benchmarks.growth import growth
from benchmarks.history import history
from benchmarks.hooks import hooks
from benchmarks.kinds import kinds
from benchmarks.month import month
from benchmarks.pairs import pairs
from benchmarks.poison import poison
from benchmarks.quality import quality
from benchmarks.replay import replay
from benchmarks.server import server
from benchmarks.server_large import large
from benchmarks.server_primary import primary
from benchmarks.server_team import team
from benchmarks.server_tenants import tenants
from benchmarks.soak import soak
from benchmarks.speed import speed
from benchmarks.strands import strand
from benchmarks.trips import trips
from benchmarks.ways import ways
from benchmarks.window_speed import window

cli = click.Group(
    commands={
        "abstain": abstain,
        "background": background,
        "brief": brief,
        "commands": commands,
        "concurrent": concurrent,
        "growth": growth,
        "history": history,
        "hooks": hooks,
        "kinds": kinds,
        "large": large,
        "month": month,
        "pairs": pairs,
        "poison": poison,
        "primary": primary,
        "quality": quality,
        "replay": replay,
        "server": server,
        "team": team,
        "tenants": tenants,
        "soak": soak,
        "speed": speed,
        "strands": strand,
        "trips": trips,
        "ways": ways,
        "window": window,
    },
    help=__doc__,
)

if __name__ == "__main__":
    cli(prog_name="scripts/bench")
