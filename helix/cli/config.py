"""Commands about the command itself: config, completion."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import get_completion_class

from helix.cli.invocation import Invocation
from helix.cli.options import ChoiceParam
from helix.cli.output import Output
from helix.settings import Settings, described, unknown_variables, variable_of


@click.command()
@click.argument("names", nargs=-1, metavar="[SETTING]...", type=ChoiceParam([name for name, _, _ in described()]))
@click.option(
    "--daemon", "of_daemon", is_flag=True, help="The settings the running daemon has, not those of this shell."
)
@click.pass_obj
def config(invocation: Invocation, /, names: tuple[str, ...], of_daemon: bool) -> None:
    """Show each setting, or those that are named: its value and where that came from.

    Flags go before the environment, then .env, then config.toml in HELIX_HOME, then the defaults. A .env is part of a
    project: it may set scope and worktrees. The rest of it is ignored, with a warning.

    \b
    helix config
    helix config db_path
    helix config --daemon --json
    """
    if of_daemon:
        data = invocation.run("config")
    else:
        settings = invocation.settings
        data = {"config": [_entry(settings, name, words) for name, words, _ in described()]}
    if names:
        data = {"config": [entry for entry in data["config"] if entry["name"] in names]}

    def show(out: Output) -> None:
        rows = [(entry["name"], entry["value"], entry["source"], entry["help"]) for entry in data["config"]]
        out.table(("SETTING", "VALUE", "FROM", "WHAT IT IS"), rows, text=False)

    invocation.emit(data, show)
    if not of_daemon and not invocation.json:
        for words in strange_variables():
            invocation.say(words)


def strange_variables(*, misspelt: bool = False) -> list[str]:
    """Return a sentence for each HELIX_ variable that is not a setting; `misspelt`: only for those near one."""
    return [
        f"{name} is not a setting" + (f"; did you mean {meant}?" if meant else " of Helix")
        for name, meant in unknown_variables().items()
        if meant or not misspelt
    ]


def _entry(settings: Settings, name: str, words: str) -> dict[str, Any]:
    value = settings.store_path if name == "db_path" else getattr(settings, name)
    return {
        "name": name,
        "value": None if value is None else str(value),
        "source": settings.sources[name],
        "variable": variable_of(name),
        "help": words,
    }


@click.command()
@click.argument("shell", type=ChoiceParam(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes `helix` in a shell.

    \b
    eval "$(helix completion bash)"                          # in ~/.bashrc
    eval "$(helix completion zsh)"                           # in ~/.zshrc
    helix completion fish > ~/.config/fish/completions/helix.fish
    """
    complete = get_completion_class(shell)
    assert complete is not None
    click.echo(complete(context.find_root().command, {}, "helix", "_HELIX_COMPLETE").source())
