"""Holds that the plugin's files are what a client reads: manifests, front matter, and commands that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest

import helix
from helix.cli.invocation import Invocation
from helix.cli.main import cli

PLUGIN = Path(helix.__file__).parent / "plugin"
PROSE = sorted(path for path in PLUGIN.rglob("*.md") if path.name != "README.md")

# The client takes keys it does not know without a word, so that a misspelt one would go unseen.
KNOWN = {
    "agents": {"name", "description", "tools", "model", "color"},
    "skills": {"name", "description"},
    "commands": {"description", "argument-hint", "allowed-tools"},
}
NEEDED = {
    "agents": {"name", "description", "tools", "model"},
    "skills": {"name", "description"},
    "commands": {"description"},
}
TOOLS = {"Read", "Grep", "Glob", "Bash", "Write", "Edit", "Agent", "TaskCreate", "TaskUpdate", "TaskList"}
EVENTS = {
    *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart"),
    *("SubagentStop", "TaskCompleted", "PreCompact", "Stop", "SessionEnd"),
}


def front_matter(path: Path) -> dict[str, str]:
    """Return the keys above a file's text; a value is plain or in double quotes, on one line."""
    opening, head, body = path.read_text("utf-8").split("---\n", 2)
    assert opening == ""
    assert body.strip()
    found: dict[str, str] = {}
    for line in head.splitlines():
        key, colon, value = line.partition(": ")
        assert colon and key not in found, line
        if value.startswith('"'):
            value = json.loads(value)
        else:
            # What YAML would take for something else than a string of these letters.
            assert not re.search(r": |\s#|^[\[\]{}>|*&!%@`'\"#,?-]", value), line
        found[key] = value
    return found


def kind_of(path: Path) -> str:
    return path.relative_to(PLUGIN).parts[0]


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.relative_to(PLUGIN).as_posix())
def test_front_matter_has_the_keys_that_a_client_knows(path: Path) -> None:
    found = front_matter(path)
    assert NEEDED[kind_of(path)] <= found.keys() <= KNOWN[kind_of(path)]
    assert all(value.strip() for value in found.values())
    assert len(found["description"]) <= 250
    if "name" in found:
        assert found["name"] == (path.parent.name if path.name == "SKILL.md" else path.stem)


@pytest.mark.parametrize("name", ["explorer", "planner", "builder"])
def test_agents_have_the_tools_and_models_of_their_contracts(name: str) -> None:
    found = front_matter(PLUGIN / f"agents/{name}.md")
    tools = set(found["tools"].split(", "))
    assert {"Read", "Grep", "Glob", "Bash"} <= tools <= TOOLS
    assert ({"Write", "Edit", "TaskUpdate"} <= tools) == (name == "builder")
    assert found["model"] == ("haiku" if name == "explorer" else "opus")


def test_the_plugin_has_every_part_that_it_promises() -> None:
    names = {path.relative_to(PLUGIN).as_posix() for path in PROSE}
    assert names == {
        *(f"agents/{name}.md" for name in ("explorer", "planner", "builder")),
        *(f"skills/{name}/SKILL.md" for name in ("helix", "helix-query", "helix-stats")),
        *(f"commands/{name}.md" for name in ("explore", "plan", "query", "stats", "observe")),
    }


def test_manifests_agree_with_each_other_and_with_helix() -> None:
    plugin, marketplace = (
        json.loads((PLUGIN / f".claude-plugin/{name}.json").read_text("utf-8")) for name in ("plugin", "marketplace")
    )
    (listed,) = marketplace["plugins"]
    assert plugin["name"] == listed["name"] == marketplace["name"] == "helix"
    assert plugin["version"] == listed["version"] == helix.__version__
    assert (PLUGIN / listed["source"]).resolve() == PLUGIN


def test_every_packaged_hook_is_the_process_within_its_limit() -> None:
    hooks: dict[str, Any] = json.loads((PLUGIN / "hooks/hooks.json").read_text("utf-8"))["hooks"]
    assert hooks.keys() == EVENTS
    for entries in hooks.values():
        (entry,) = entries
        (hook,) = entry["hooks"]
        assert (hook["type"], hook["timeout"]) == ("command", 0.3)
        (file,) = (word for word in hook["args"] if word.endswith(".py"))
        assert Path(file.replace("${CLAUDE_PLUGIN_ROOT}", str(PLUGIN))).is_file()


def mentioned() -> list[tuple[str, ...]]:
    """Return the command lines in code that the plugin's prose tells agents to run, as words."""
    found = set()
    for path in PROSE:
        text = path.read_text("utf-8")
        code = re.findall(r"`(helix [^`]+)`", text) + re.findall(r"^(helix .+)$", text, re.MULTILINE)
        found |= {tuple(re.findall(r'"[^"]*"|\S+', line)[1:]) for line in code}
    return sorted(found)


@pytest.mark.parametrize("words", mentioned(), ids=" ".join)
def test_commands_that_agents_are_told_of_exist_with_these_options(words: tuple[str, ...]) -> None:
    if words[0] == "COMMAND":
        return
    context = click.Context(cli, obj=Invocation())
    command: click.Command | None = cli
    rest = list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        command = command.get_command(context, rest.pop(0))
    assert command is not None, words
    options = {name for param in command.params if isinstance(param, click.Option) for name in param.opts} | {"--help"}
    assert {word for word in rest if word.startswith("--")} <= options
