"""The client: every operation of a daemon as a typed method, blocking (`Client`) or awaited (`AsyncClient`)."""

from __future__ import annotations

from helix.client.sync_client import Client
from helix.client.wire import LOOPBACK, REQUEST_BYTES, document, error_from

__all__ = ["LOOPBACK", "REQUEST_BYTES", "Client", "document", "error_from"]
