"""The command line of the benchmarks."""

from __future__ import annotations

import click

from benchmarks.concurrent import concurrent
from benchmarks.history import history

cli = click.Group(commands={"concurrent": concurrent, "history": history}, help=__doc__)

if __name__ == "__main__":
    cli(prog_name="scripts/bench")
