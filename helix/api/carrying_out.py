"""Carrying out: an operation asked for by GraphQL or MCP, as who asks for it, in a thread, within its time, counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from helix.api.resolver_context import Context
from helix.api.speaking import as_said_by
from helix.errors import HelixError
from helix.operations.listed import Operation


async def carry_out(
    context: Context, operation: Operation, values: Mapping[str, Any], work: Callable[..., Any] | None = None
) -> Any:
    """Return what an operation answers to these arguments; `work` carries it out in the place of its function.

    Raises HelixError: what the operation raises, QueryTimeoutError, PersonNeededError.
    """
    call = context.write if operation.writes else context.ask if operation.asks_graph else context.read
    said = as_said_by(context.agent, operation, values) if operation.writes else values
    answer = await call(work or operation.function, context.runtime.helix, **said)
    context.runtime.meters.answer(answer)
    return answer


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
