"""Helix: a local-first memory service for coding agents.

The package exports lazily, so that a hook that only needs the client never loads Kuzu or ONNX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["AsyncClient", "Client", "Helix", "connect", "connect_async", "open"]

if TYPE_CHECKING:
    from helix.client import Client
    from helix.client.async_client import AsyncClient
    from helix.daemon import connect, connect_async
    from helix.service import Helix
    from helix.service import open_embedded as open

_HOMES = {
    "AsyncClient": ("helix.client.async_client", "AsyncClient"),
    "Client": ("helix.client", "Client"),
    "connect": ("helix.daemon", "connect"),
    "connect_async": ("helix.daemon", "connect_async"),
    "Helix": ("helix.service", "Helix"),
    "open": ("helix.service", "open_embedded"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'helix' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
