"""Commands that keep a store in shape: decay, decay-edges, prune, rebuild, reembed, backup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from helix.cli.invocation import Invocation
from helix.cli.options import dry_run_option
from helix.cli.output import Output, size
from helix.cli.progress import follow
from helix.errors import StoreCorruptError


@click.command()
@click.option(
    "--unused-days", type=click.FloatRange(min=0), default=30, show_default=True, help="Not used for so long."
)
@click.option("--min-uses", type=click.IntRange(min=0), default=2, show_default=True, help="Used less often than this.")
@dry_run_option
@click.pass_obj
def decay(invocation: Invocation, /, **limits: Any) -> None:
    """Halve the feedback of memories that were hardly used: old evidence weighs less.

    \b
    helix decay --dry-run
    """
    _report(invocation, "decay", "decay", **limits)


@click.command("decay-edges")
@click.option(
    "--unused-days", type=click.FloatRange(min=0), default=60, show_default=True, help="Not used for so long."
)
@dry_run_option
@click.pass_obj
def decay_edges(invocation: Invocation, /, **limits: Any) -> None:
    """Halve the weight of edges that were not used for long.

    \b
    helix decay-edges --unused-days 90
    """
    _report(invocation, "decay_edges", "decayEdges", **limits)


@click.command()
@click.option(
    "--min-effectiveness", type=click.FloatRange(0, 1), default=0.25, show_default=True, help="Helped less than this."
)
@click.option(
    "--min-uses", type=click.IntRange(min=0), default=3, show_default=True, help="After at least so many uses."
)
@dry_run_option
@click.pass_obj
def prune(invocation: Invocation, /, **limits: Any) -> None:
    """Archive what evidence speaks against, but what you said or confirmed; `helix restore` brings one back.

    \b
    helix prune --dry-run
    """
    _report(invocation, "prune", "prune", **limits)


@click.command()
@click.pass_obj
def rebuild(invocation: Invocation, /) -> None:
    """Build the graph anew from the journal; recall goes on meanwhile.

    \b
    helix rebuild
    """
    _follow(invocation, "rebuild", "the graph is rebuilt")


@click.command()
@click.pass_obj
def reembed(invocation: Invocation, /) -> None:
    """Embed everything anew, after a change of `embedding_model`.

    The daemon reads its settings when it starts: set the model in config.toml, stop the daemon, then reembed.

    \b
    helix stop
    helix reembed
    """
    _follow(invocation, "reembed", "everything is embedded anew")


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.pass_obj
def backup(invocation: Invocation, /, path: Path) -> None:
    """Write a backup of the running store to a file.

    \b
    helix backup ~/helix-monday.backup
    """
    _follow(invocation, "backup", f"backed up to {path}", path=path.absolute())


@click.command()
@click.option("--acknowledge", is_flag=True, help="Say that you know of the loss: the warning ends, kept files stay.")
@click.pass_obj
def recover(invocation: Invocation, /, acknowledge: bool) -> None:
    """Take back what the journal lost, from the files that were put aside when that was noticed.

    Changes that the kept journal proves come back as they were. Memories that only the kept graph knows wait in
    `helix review list`. A journal that cannot be opened at all is put aside first, and what can be read of it comes
    back; where you have a backup, `helix restore --backup FILE` may bring back more.

    \b
    helix recover
    """
    if not acknowledge:
        _open_anyhow(invocation)
        _follow(invocation, "recover", "taken back")
        return
    data = invocation.run("acknowledge_loss")
    invocation.emit(data, lambda out: out.line(f"{data['acknowledgeLoss']} losses acknowledged"))


def _open_anyhow(invocation: Invocation) -> None:
    """Have a daemon serve the store; where its journal cannot be opened, that is put aside and a new one begun."""
    try:
        invocation.client()
    except StoreCorruptError as error:
        from helix.cli.serve import set_aside_closed_store  # the service: seconds to load, and only for this

        invocation.say(f"{error.message}: it is put aside, and what can be read of it is taken back")
        set_aside_closed_store(invocation.settings)
        invocation.client()


def _report(invocation: Invocation, operation: str, field: str, **arguments: Any) -> None:
    data = invocation.run(operation, **arguments)
    report = data[field]

    def show(out: Output) -> None:
        for name in report["names"]:
            out.line(name)

    invocation.emit(data, show)
    if not invocation.json:
        invocation.say(f"{report['changed']} {'would change' if report['dryRun'] else 'changed'}")
        if report["job"]:
            invocation.say(f"`helix undo {report['job']}` takes it back")


def _follow(invocation: Invocation, operation: str, words: str, **arguments: Any) -> None:
    job = follow(invocation, invocation.run(operation, **arguments)[operation])
    result = {name: size(value) if name.endswith("bytes") else value for name, value in job["result"].items()}

    def show(out: Output) -> None:
        out.line(words)
        out.fields(result)

    invocation.emit({operation: job}, show)
