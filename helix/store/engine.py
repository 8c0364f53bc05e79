"""Engine: where a store's journal is kept, in a file of the store's folder or by a server that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from helix.journal import witnesses
from helix.journal.backend import Backend
from helix.journal.database import PAGE_CACHE_KIB, Database
from helix.journal.mark import MarkFile
from helix.journal.postgres.at_address import server_at
from helix.settings import Settings
from helix.store.snapshot_file import read_stamp

if TYPE_CHECKING:
    from helix.journal.postgres.home import Home
    from helix.journal.postgres.postgres_server import Server

JOURNAL_NAME = "journal.db"
MARK_NAME = "journal.mark"
GRAPH_NAME = "graph.kuzu"
IMAGE_NAME = "memory.image"
_LITTLE_PAGE_CACHE_KIB = 2_048


class VectorSearch(Protocol):
    """An index over the vectors of passages."""

    def vector_search(self, vector: Sequence[float], k: int) -> list[tuple[str, float]]:
        """Return (passage id, cosine) of `k` near ones of the store, best first.

        Raises GraphUnavailableError while it cannot.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The tables of one store. `mark` notes how far it has come, as far as this machine knows."""

    backend: Backend
    mark: MarkFile
    address: str
    """What another process finds the same tables by: a file, or a server's address."""
    tenant: int
    """The tenant's number on that server; 0 for a file."""
    vectors: VectorSearch | None
    """What searches the vectors of a large store; None: the graph does."""
    epoch: int = 0
    before: int = 0
    """The epochs of the tenant's home on that server, which this is, and of the one before."""


OpensEngine = Callable[[Path], Engine]
"""Opens the tables of a store; the folder is for what is kept beside them."""


def open_engine(settings: Settings, folder: Path, at: int) -> Engine:
    """Open a store's engine, SQLite in `folder` or PostgreSQL by the settings; `at` is now (microseconds).

    A server that is opened for it alone is closed with it.

    Raises ConfigError where a server is named and Helix has not what it takes to use one.
    """
    if settings.engine:
        return _on_server(settings, folder)
    file, mark = folder / JOURNAL_NAME, MarkFile(folder / MARK_NAME)
    image = folder / IMAGE_NAME
    witnesses.examine_witnesses(file, mark, image, read_stamp(image), folder / GRAPH_NAME, at)
    cache = _LITTLE_PAGE_CACHE_KIB if settings.low_memory else PAGE_CACHE_KIB
    backend = Database(file, page_cache_kib=cache)
    return Engine(backend=backend, mark=mark, address=str(file.absolute()), tenant=0, vectors=None)


def _on_server(settings: Settings, folder: Path) -> Engine:
    server = server_at(settings.engine, vouched=settings.engine_vouched)
    from helix.journal.postgres.home import Home

    with ExitStack() as opened:  # what was opened is closed again where the rest fails
        opened.callback(server.close)
        server.check()
        tenant = server.tenant(settings.tenant)
        home = Home(server)
        opened.callback(home.close)
        kept = ExitStack()
        engine = open_tenant_engine(server, home, tenant.id, settings, folder, kept.close)
        kept.push(opened.pop_all())
    return engine


def open_tenant_engine(
    server: Server, home: Home, tenant: int, settings: Settings, folder: Path, closing: Callable[[], object]
) -> Engine:
    """Open the store's engine for a tenant that a process becomes home to; `closing` is called when it is closed.

    Raises StoreLockedError while another process that lives is its home.
    """
    from helix.journal.postgres.tenant_database import TenantDatabase

    epoch, before = home.claim(tenant)
    backend = TenantDatabase(
        server,
        tenant,
        epoch,
        folder / "journal",
        closing=closing,
        lost=lambda: home.lost(tenant),
        committed=lambda commits: home.committed(tenant, epoch, commits),
        requires_quorum=settings.require_quorum,
        archive_days=settings.archive_days,
    )
    mark = MarkFile(folder / MARK_NAME)
    return Engine(
        backend=backend,
        mark=mark,
        address=settings.engine,
        tenant=tenant,
        vectors=backend,
        epoch=epoch,
        before=before,
    )
