"""Speaking: what is asked by an agent is taken as an agent's, and what only a person may say is refused.

The command line and the Python client say in a header which agent runs them. Whoever has the token may leave it out:
this keeps an honest agent from speaking for its user, and marks what it says. It is no wall against one that lies.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from typing import Any

from helix.errors import PersonNeededError
from helix.model.provenance import Trust, weakest

_PERSONS: Mapping[str, str] = {
    "accept": "let what is quarantined be recalled",
    "acknowledge_loss": "say that a loss is known",
    "confirm": "confirm a memory",
    "hard_forget": "erase for good",
    "reopen_contradiction": "take back what was said of a contradiction",
    "resolve_contradiction": "say which of two memories holds",
    "restore": "bring back what was taken out of recall",
    "restore_backup": "put a backup in the place of the store",
    "unmerge": "take a memory out of another one",
}
"""Mutations that raise what a memory is worth, or that nothing brings back, and what they do."""
_PERSONS_OPTIONS: Mapping[tuple[str, str], str] = {
    ("scan_secrets", "apply"): "erase for good",
    ("ingest_notes", "mine"): "say that notes are the user's own",
    ("feedback", "quality"): "call a use verified",
    ("feedback", "task"): "overrule what a task's outcome gave",
    ("pause", "on"): "end a pause",
}
_OFF = frozenset({("pause", "on")})
"""Those of them that a person has to say where they are switched off, not on."""


def as_said_by(agent: str, function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a mutation as they count where an agent asks for it; as they are for a person (empty).

    The agent is named where it names nobody, and stated trust is an agent's at most.
    Raises PersonNeededError for what only a person may ask for.
    """
    if not agent:
        return dict(values)
    name = function.__name__
    check_person(agent, _PERSONS.get(name, ""))
    for (mutation, option), what in _PERSONS_OPTIONS.items():
        on = bool(values.get(option, (name, option) in _OFF))
        check_person(agent, what if mutation == name and on is not ((name, option) in _OFF) else "")
    said = {key: _by(agent, value) if is_dataclass(value) else value for key, value in values.items()}
    for parameter in ("agent", "by"):
        if parameter in inspect.signature(function).parameters:
            said[parameter] = said.get(parameter) or agent
    return said


def check_person(agent: str, what: str) -> None:
    """Raise PersonNeededError where an agent is about to do `what` only a person may; empty is anybody's."""
    if agent and what:
        raise PersonNeededError(
            f"only a person may {what}, and {agent} asks for it",
            hint="have the user run this in a terminal of their own, outside of the agent's session",
        )


def _by(agent: str, request: Any) -> Any:
    """Return a request that has an agent and a trust with the agent's name in it, and no more trust than an agent's."""
    changes: dict[str, Any] = {}
    if hasattr(request, "agent"):
        changes["agent"] = request.agent or agent
    if getattr(request, "trust", None) is not None:
        changes["trust"] = weakest(request.trust, Trust.AGENT_INFERRED)
    return replace(request, **changes)
