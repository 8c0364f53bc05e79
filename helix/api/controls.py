"""Controls: mutations that concern the daemon rather than its store."""

from __future__ import annotations

from helix.api.access import LINK_SECONDS
from helix.api.resolver_context import Context
from helix.errors import DaemonError, ForbiddenError
from helix.model.reports import OpenLink


def shutdown(context: Context) -> bool:
    """Stop the daemon: what has begun is answered first, nothing acknowledged is lost."""
    _check_own(context)
    if context.runtime.shutdown is None:
        raise DaemonError("this server is part of another program", hint="end that program to stop it")
    context.runtime.closing.set()
    context.runtime.shutdown()
    return True


def open_link(context: Context) -> OpenLink:
    """Make a link that opens this explorer in a browser; it works once, within a minute."""
    _check_own(context)
    url = f"{context.base_url}/open/{context.runtime.access.new_link()}"
    return OpenLink(url=url, expires_in_seconds=LINK_SECONDS)


def _check_own(context: Context) -> None:
    if context.principal is not None:
        raise ForbiddenError("this is of the server's machine", hint="whoever runs the server may: `helix key link`")


ALL = (shutdown, open_link)
