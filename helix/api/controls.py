"""Controls: mutations that concern the daemon rather than its store."""

from __future__ import annotations

from helix.api.access import LINK_SECONDS
from helix.api.resolver_context import Context
from helix.errors import DaemonError
from helix.model.reports import OpenLink


def shutdown(context: Context) -> bool:
    """Stop the daemon: what has begun is answered first, nothing acknowledged is lost."""
    if context.runtime.shutdown is None:
        raise DaemonError("this server is part of another program", hint="end that program to stop it")
    context.runtime.closing.set()
    context.runtime.shutdown()
    return True


def open_link(context: Context) -> OpenLink:
    """Make a link that opens this explorer in a browser; it works once, within a minute."""
    url = f"{context.base_url}/open/{context.runtime.access.new_link()}"
    return OpenLink(url=url, expires_in_seconds=LINK_SECONDS)


ALL = (shutdown, open_link)
