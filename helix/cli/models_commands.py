"""Models commands: models install, list, verify. They work on files alone, without the daemon."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from helix import daemon
from helix.cli.invocation import Invocation
from helix.cli.output import Output, printed_size
from helix.cli.progress import meter
from helix.errors import InvalidInputError, ModelError
from helix.model.speaker import agent_of
from helix.providers import install as installing
from helix.providers.addresses import confirm_address, may_be_asked, origin_of
from helix.providers.litellm_calls import missing
from helix.providers.model_catalogue import KNOWN, RERANKER, Model, ModelKind, known


@click.group()
def models() -> None:
    """Install, list and verify the models that run on this machine.

    \b
    helix models install
    helix models list
    """


@models.command("install")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.pass_obj
def install(invocation: Invocation, /, names: tuple[str, ...]) -> None:
    """Install models, by default the one that is set; what is there is checked, and repaired where damaged.

    \b
    helix models install
    helix models install ms-marco-MiniLM-L12-int8
    """
    wanted = [known(name) for name in dict.fromkeys(names or (invocation.settings.embedding_model,))]
    fetched = install_missing(invocation, wanted)
    data = {"models": [_entry(model, invocation.settings.models_path / model.name) for model in wanted]}

    def show(out: Output) -> None:
        for entry in data["models"]:
            out.line((entry["name"], "bold"), f" is in {entry['folder']}")

    invocation.emit(data, show)
    starts_with = any(model.kind is ModelKind.EMBEDDING for model in fetched)
    if starts_with and daemon.find(invocation.settings.store_path) is not None and not invocation.json:
        invocation.say("a daemon runs already: it takes a new model up after `helix stop`")


@models.command("list")
@click.pass_obj
def list_(invocation: Invocation, /) -> None:
    """List the models that can be installed, and which are.

    \b
    helix models list
    """
    there = {found.model.name: found.folder for found in installing.installed(invocation.settings.models_path)}
    data = {"models": [_entry(model, there.get(name)) for name, model in KNOWN.items()]}

    def show(out: Output) -> None:
        settings = invocation.settings
        used = {settings.embedding_model: "yes", RERANKER.name: "yes" if settings.rerank else "where asked for"}
        rows = [
            (
                *(name, m.kind.value, printed_size(m.size), name in there, used.get(name, "")),
                *(" or ".join(m.sources), m.description),
            )
            for name, m in KNOWN.items()
        ]
        out.table(("MODEL", "KIND", "SIZE", "INSTALLED", "SET", "FROM", "WHAT IT IS"), rows, text=False)

    invocation.emit(data, show)


@models.command("verify")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.pass_obj
def verify(invocation: Invocation, /, names: tuple[str, ...]) -> None:
    """Hash every file of models, by default of all that are installed; exit code 6 when one is not right.

    \b
    helix models verify
    """
    path = invocation.settings.models_path
    wanted = names or tuple(found.model.name for found in installing.installed(path))
    states = {name: {file: state.value for file, state in installing.verify(name, path).items()} for name in wanted}

    def show(out: Output) -> None:
        out.table(("MODEL", "FILE", "STATE"), [(name, *pair) for name in states for pair in states[name].items()])

    invocation.emit({"models": states}, show)
    if not states and not invocation.json:
        invocation.say("no model is installed: `helix models install` installs the one that is set")
    wrong = [name for name, files in states.items() if set(files.values()) != {installing.FileState.RIGHT.value}]
    if wrong:
        raise ModelError(f"not as it should be: {', '.join(wrong)}", hint=f"helix models install {' '.join(wrong)}")


@models.command("confirm")
@click.argument("address")
@click.pass_obj
def confirm(invocation: Invocation, /, address: str) -> None:
    """Allow Helix to send texts to a language model on another machine; asks once, in your own terminal.

    A hosted provider may be given by its name.

    \b
    helix models confirm http://192.168.1.20:11434
    helix models confirm gemini
    """
    place = origin_of(address)
    if not may_be_asked(address, invocation.settings.home):
        question = f"Texts of every project in your stores may be sent to {place}. Do you trust who runs it?"
        if invocation.json or agent_of(os.environ) or not sys.stdin.isatty():
            raise InvalidInputError(
                f"{place} is confirmed by a person alone", hint=f"type it in a terminal: helix models confirm {place}"
            )
        if not click.confirm(question, default=False, err=True):
            raise click.Abort
        confirm_address(address, invocation.settings.home)
    words = f"{place} may be asked; a daemon that runs does so after `helix stop`"
    if lacking := missing():
        words = f"{words}. LiteLLM, which asks it, is not there yet: {lacking}"
    invocation.emit({"confirmed": place}, lambda out: out.line(words))


def install_missing(invocation: Invocation, wanted: list[Model]) -> list[Model]:
    """Install missing or damaged models for a command, under a progress bar, and return them."""
    path = invocation.settings.models_path
    missing = [model for model in wanted if not installing.is_complete(model, path / model.name, thorough=True)]
    if missing:
        with meter(invocation, "installing", in_bytes=True) as show:
            installing.install_all(missing, path, progress=show, thorough=True)
    return missing


def _entry(model: Model, folder: Path | None) -> dict[str, Any]:
    return {
        "name": model.name,
        "kind": model.kind.value,
        "bytes": model.size,
        "licence": model.licence,
        "from": model.sources[-1],
        "sources": list(model.sources),
        "installed": folder is not None,
        "folder": None if folder is None else str(folder),
    }
