"""The public model hub: one pinned file of a model, over HTTPS alone, by the user's proxies, within a bounded time.

The address is fixed: no folder and no variable, such as `HF_ENDPOINT`, changes it.
"""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from helix.providers.model_catalogue import HUB_HOST

HUB = f"https://{HUB_HOST}"
PATIENCE = 4.0
"""Seconds for a connection, and for each piece of a file."""
_LEAST_RATE = 100_000
"""Bytes a second: from a slower hub nothing is taken."""
UNREACHABLE = (OSError, http.client.HTTPException)
"""What `arriving` raises of a hub that cannot be reached, does not answer as it should, or takes too long."""


class _KeepsScheme(HTTPRedirectHandler):
    def redirect_request(self, req: Request, *rest: Any) -> Any:
        """Follow a redirect, as the hub's to where its files lie, unless it leads away from HTTPS."""
        if urlsplit(rest[-1]).scheme != req.type:
            raise URLError(f"a redirect leads away from {req.type}")
        return super().redirect_request(req, *rest)


@contextmanager
def arriving(path: str, size: int) -> Iterator[Callable[[], bytes]]:
    """Yield what returns the next piece of the hub's file at the path, empty at its end; raises UNREACHABLE."""
    ends = time.monotonic() + PATIENCE + size / _LEAST_RATE
    request = Request(f"{HUB}/{path}", headers={"User-Agent": "helix"})
    with build_opener(_KeepsScheme).open(request, timeout=PATIENCE) as answer:

        def piece() -> bytes:
            if time.monotonic() > ends:
                raise TimeoutError("the hub is too slow")
            found: bytes = answer.read1(1 << 16)
            return found

        yield piece
