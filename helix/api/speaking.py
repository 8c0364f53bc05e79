"""Speaking: what is asked by an agent is taken as an agent's, and what only a person may say is refused.

The command line and the Python client say in a header which agent runs them. Whoever has the token may leave it out:
this keeps an honest agent from speaking for its user, and marks what it says. It is no wall against one that lies.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from typing import Any

from helix.errors import PersonNeededError
from helix.model.provenance import Trust, weakest
from helix.operations.listed import Operation


def as_said_by(agent: str, operation: Operation, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a mutation as they count where an agent asks for it; as they are for a person (empty).

    The agent is named where it names nobody, and stated trust is an agent's at most.
    Raises PersonNeededError for what only a person may ask for.
    """
    if not agent:
        return dict(values)
    check_person(agent, operation.person)
    taken = inspect.signature(operation.function).parameters
    for (option, given), what in operation.person_where.items():
        check_person(agent, what if bool(values.get(option, taken[option].default)) is given else "")
    said = {key: _by(agent, value) if is_dataclass(value) else value for key, value in values.items()}
    for parameter in ("agent", "by"):
        if parameter in taken:
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
