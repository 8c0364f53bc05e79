"""The command `init`: makes a place for the store and, by consent, installs the embedding model."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from helix import files, local_store
from helix.cli.invocation import Invocation
from helix.cli.options import project_here
from helix.cli.output import Output, printed_size
from helix.errors import ConflictError, InvalidInputError, PersonNeededError, StoreError
from helix.folders import call_own, let_go_of_folder
from helix.held_folder import held_folder
from helix.identity import LONGEST_NAME, PROJECT_FILE, Identity, is_taken
from helix.model.speaker import agent_of
from helix.remote_scope import fit
from helix.scopes import call_folder, confirm_name, same_scope
from helix.settings import Settings, load


@click.command()
@click.option(
    "--local", is_flag=True, help="Make a store of its own for the project in this folder; it lies in HELIX_HOME."
)
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
        invocation.flags["db_path"] = _local_store(invocation, Path.cwd())
    settings = invocation.settings
    for folder in (settings.home, settings.store_path):
        files.private_folder(folder)
    model = "none" if no_model else _model(invocation, yes)
    data = {"init": {"store": str(settings.store_path), "home": str(settings.home), "model": model}}

    def show(out: Output) -> None:
        out.fields({"store": settings.store_path, "model": model})

    invocation.emit(data, show)
    if not invocation.json:
        invocation.say('try: helix store "what to remember", helix ingest git ., helix recall "..."')


@click.command()
@click.argument("name")
@click.pass_obj
def name(invocation: Invocation, /, name: str) -> None:
    """Call this folder's project NAME: its memories are kept under that, in place of its remote's address.

    A name that stands in the project's `.helix/project.toml` or `.env` counts once you have said so here: whoever wrote
    those files would else read and write what you keep of another project. Where none stands there it is written. What
    you say here counts in this folder whatever its files say by then. By the name that it has anyway you say that a
    folder is your own clone, where you are warned of it.

    \b
    helix name shop
    """
    settings, folder = invocation.settings, Path.cwd()
    if agent := agent_of(os.environ):
        hint = "have the user run this in a terminal of their own"
        raise PersonNeededError(f"only a person may say what a project is called, not {agent}", hint=hint)
    claimed = before = project_here(settings, folder)
    _check_no_secret(name, before.asked)
    if not before.asked and same_scope(before.scope, name):
        call_own(settings.home, before)
        words = f"this folder is your own {before.scope}"
        invocation.emit({"name": {"scope": before.scope}}, lambda out: out.line(words))
        return
    if before.asked and same_scope(before.asked, name):
        confirm_name(before.instead_of, before.asked, settings.home)
    elif files.work_tree_of(before.root) not in (None, before.root):
        _name_below(before, name, settings)
    else:
        # Kept in HELIX_HOME too: whatever the folder's files say, and when they go, it is called so.
        _check_name(name)
        if not files.is_there(before.root / PROJECT_FILE):
            _write_name(before.root, name)
        call_folder(before.root, fit(name), settings.home)
    after = project_here(settings, folder).scope
    if same_scope(after, claimed.scope):
        raise ConflictError(
            f"this folder's project is still {after}", hint=f"see what its {PROJECT_FILE} and .env say of a name"
        )
    let_go_of_folder(settings.home, claimed)  # where the name goes again, the user is told again
    invocation.emit({"name": {"scope": after}}, lambda out: out.line(f"this folder's scope is {after}"))


def _name_below(project: Identity, name: str, settings: Settings) -> None:
    """Write the name of a sub-project into its settings, and confirm it: whoever works on the repository sees it."""
    if project.asked:
        raise ConflictError(f"this folder's files ask for the name {project.asked!r}", hint="change it there first")
    _write_name(project.root, name)
    asks = project_here(settings, project.root)
    if asks.asked:
        confirm_name(asks.instead_of, asks.asked, settings.home)


def _check_no_secret(*names: str) -> None:
    """Raise InvalidInputError for a name that nothing would be kept under: secrets are taken out of a scope."""
    from helix.text.secrets.redact import redact  # its rules are of no use to the other commands

    if any(redact(name).kinds for name in names):
        raise InvalidInputError(
            "the name has a secret in it, which would be written down", hint="a word or an address without a password"
        )


def _check_name(name: str) -> None:
    """Raise InvalidInputError for a name that means something else, or that none can be."""
    if len(name) > LONGEST_NAME:
        raise InvalidInputError(f"the name has {len(name):,} characters", hint=f"at most {LONGEST_NAME}")
    if not fit(name) or is_taken(fit(name)):
        raise InvalidInputError(f"no project may be called {name!r}")


def _write_name(root: Path, name: str) -> None:
    """Write a project's name into its own settings. Raises InvalidInputError where they are there, or as above."""
    file = root / PROJECT_FILE
    _check_name(name)
    if file.exists():
        raise InvalidInputError(f"{file} is there already", hint="write the name into it, then say it here")
    if file.parent.is_symlink():
        raise InvalidInputError(f"{file.parent} is a link", hint="remove it: the name is kept in this folder itself")
    with held_folder(files.real_path(root) / file.parent.name, make=True) as folder:
        if folder.stat(file.name) is not None:
            raise InvalidInputError(f"{file} is there already")
        folder.write(file.name, f"name = {json.dumps(name)}\n", files.PRIVATE_FILE)


def _local_store(invocation: Invocation, project: Path) -> Path:
    try:
        return local_store.make(project, load({"home": invocation.flags.get("home")}).home)
    except ValueError as trouble:
        raise StoreError(str(trouble), hint="remove it and try again; what git tracks: `git rm -r --cached`") from None


def _model(invocation: Invocation, yes: bool) -> str:
    """Install the model that is set, if that is wanted, and return what recall will work with."""
    from helix.cli.models_commands import install_missing  # its imports are of no use to the other commands
    from helix.providers.install import installed
    from helix.providers.model_catalogue import KNOWN

    settings = invocation.settings
    model = KNOWN.get(settings.embedding_model)
    if model is None or model.name in {found.model.name for found in installed(settings.models_path)}:
        return settings.embedding_model
    need = f"{printed_size(model.carrier.size)} are downloaded once, {printed_size(model.size)} stay on disk"
    question = f"Install the embedding model {model.name} ({model.licence}; {need})?"
    if yes or (sys.stdin.isatty() and not invocation.json and click.confirm(question, default=True, err=True)):
        install_missing(invocation, [model])
        return model.name
    return "none: `helix models install` installs it"
