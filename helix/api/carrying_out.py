"""Carrying out: an operation asked for by GraphQL or MCP, as who asks for it, in a thread, within its time, counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from helix.api.permissions import as_seen_by, check_role, within_scopes
from helix.api.resolver_context import Context, Runtime
from helix.api.speaking import as_said_by
from helix.errors import ForbiddenError, HelixError
from helix.model.principal import Principal
from helix.operations.listed import Operation
from helix.operations.roles import ADDING


async def carry_out(
    context: Context, operation: Operation, values: Mapping[str, Any], work: Callable[..., Any] | None = None
) -> Any:
    """Return what an operation answers to these arguments; `work` carries it out in the place of its function.

    Raises HelixError: what the operation raises, QueryTimeoutError, PersonNeededError.
    """
    call = context.write if operation.writes else context.ask if operation.asks_graph else context.read
    check_role(context.principal, operation)
    said = as_said_by(context.agent, operation, values) if operation.writes else values
    answer = await call(_allowed, context.runtime, context.principal, operation, work or operation.function, said)
    context.runtime.meters.answer(answer)
    return answer


def _allowed(
    runtime: Runtime,
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
    if operation.name in ADDING and (why := runtime.full()):
        raise ForbiddenError(why, hint="forget for good what is not needed, or ask who runs the server for more")
    with helix.acting(principal.name):
        return as_seen_by(principal, work(helix, **given))


@contextmanager
def metered(context: Context, operation: Operation, name: str) -> Iterator[None]:
    """Count a request by the name it was asked by, with how it ended and its seconds."""
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
