"""Carrying out: an operation asked for by GraphQL or MCP, as who asks for it, in a thread, within its time, counted.

What is asked by an agent is taken as an agent's, and what only a person may say is refused. The command line and the
Python client say in a header which agent runs them. Whoever has the token may leave it out: this keeps an honest agent
from speaking for its user, and marks what it says. It is no wall against one that lies.

What is asked with an idempotency key is done once.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from typing import Any, TypeVar

from helix.api.permissions import as_seen_by, check_role, within_scopes
from helix.api.resolver_context import AppRuntime, Context
from helix.errors import HelixError, PersonNeededError
from helix.model.principal import Principal
from helix.model.provenance import Trust, weakest_trust
from helix.model.requests import request_of
from helix.operations.listed import Operation
from helix.service import Helix
from helix.text.cleaning import clean


async def carry_out(
    context: Context, operation: Operation, values: Mapping[str, Any], work: Callable[..., Any] | None = None
) -> Any:
    """Carry out an operation of the API with these arguments; `work` does it in the place of its function.

    Raises HelixError: what the operation raises, QueryTimeoutError, PersonNeededError.
    """
    call = context.write if operation.writes else context.ask if operation.asks_graph else context.read
    check_role(context.principal, operation)
    said = as_said_by(context.agent, operation, values) if operation.writes else values
    answer = await call(_allowed, context.runtime, context.principal, operation, work or operation.function, said)
    context.runtime.meters.answer(answer)
    return answer


def _allowed(
    runtime: AppRuntime,
    principal: Principal | None,
    operation: Operation,
    work: Callable[..., Any],
    values: Mapping[str, Any],
) -> Any:
    """Carry an operation out within the scopes of who asks, whose name its changes get."""
    helix = runtime.helix
    given = within_scopes(helix, principal, operation, values)
    if principal is None:
        return work(helix, **given)
    if operation.adds:
        helix.store.runtime.check_room()
    with helix.store.writer.acting(principal.name):
        return as_seen_by(principal, work(helix, **given))


@contextmanager
def metered(context: Context, operation: Operation, name: str) -> Iterator[None]:
    """Count an API request by the name it was asked by, with how it ended and its seconds."""
    kind = "mutation" if operation.writes else "query"
    begun, code = time.perf_counter(), HelixError.code
    try:
        yield
        code = "OK"
    except HelixError as error:
        code = error.code
        raise
    except asyncio.CancelledError:
        code = "CANCELLED"
        raise
    finally:
        context.runtime.meters.operation(name, kind, code, time.perf_counter() - begun)


def as_said_by(agent: str, operation: Operation, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return an API mutation's arguments as they count where an agent asks; unchanged for a person (empty).

    The agent is named where it names nobody, and stated trust is an agent's at most.
    Raises PersonNeededError for what only a person may ask for.
    """
    if not agent:
        return dict(values)
    check_person(agent, operation.person)
    taken = inspect.signature(operation.function).parameters
    for (option, given), what in operation.person_where.items():
        check_person(agent, what if bool(values.get(option, taken[option].default)) is given else "")
    if operation.person_if is not None:
        chosen = {key: value for key, value in values.items() if value != taken[key].default}
        check_person(agent, operation.person_if(chosen))
    said = {key: _by(agent, value) if is_dataclass(value) else value for key, value in values.items()}
    for parameter in ("agent", "by"):
        if parameter in taken:
            said[parameter] = _named(said.get(parameter), agent)
    return said


def check_person(agent: str, what: str) -> None:
    """Raise PersonNeededError where an API request of an agent asks for `what` is a person's; empty is anybody's."""
    if agent and what:
        raise PersonNeededError(
            f"only a person may {what}, and {agent} asks for it",
            hint="have the user run this in a terminal of their own, outside of the agent's session",
        )


def _named(given: str | None, agent: str) -> str:
    """Return who an API request says it is of, or the agent that asks: nothing but blanks names nobody."""
    return given if given and clean(given) else agent


def _by(agent: str, request: Any) -> Any:
    """Return a request that has an agent and a trust with the agent's name in it, and no more trust than an agent's."""
    changes: dict[str, Any] = {}
    if hasattr(request, "agent"):
        changes["agent"] = _named(request.agent, agent)
    if getattr(request, "trust", None) is not None:
        changes["trust"] = weakest_trust(request.trust, Trust.AGENT_INFERRED)
    return replace(request, **changes)


T = TypeVar("T")

KEY = "idempotency_key"


def once(
    function: Callable[..., T], key: str | None, given: Mapping[str, Any], agent: str = "", owner: str = ""
) -> Callable[..., T]:
    """Return an API mutation as a request with an idempotency key; as it is where there is none.

    The same words of an agent and of a person (no `agent`) are two requests: an answer is told to who asked for it.
    `owner` is whose key it is, where many ask.
    Raises InvalidInputError for a key that is none.
    """
    if key is None:
        return function
    payload = {name: value for name, value in given.items() if value is not None}
    request = request_of(function.__name__, key, payload, agent, owner)

    def carried_out(helix: Helix, **values: Any) -> T:
        with helix.store.writer.request(request):
            return function(helix, **values)

    return carried_out
