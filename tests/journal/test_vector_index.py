"""The index of a very large tenant's vectors: it follows each change, and shows nobody what is another tenant's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import psycopg
import pytest

from helix.errors import GraphUnavailableError, StoreError
from helix.journal.postgres.postgres_server import Server, Tenant
from helix.journal.postgres.tenant_database import TenantDatabase
from helix.memory.erasure.hard_forget import hard_forget, plan_hard_forget
from helix.memory.remember.request import StoreRequest
from helix.operations import memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import load
from tests.memory.working import job

WORDS = ("till", "drawer", "printer", "queue", "cable", "socket", "jam", "leak", "loop", "retry", "door", "lamp")
QUESTION = "the till and its drawer jam"


@pytest.fixture
def shop(server: Server, tmp_path: Path) -> Iterator[tuple[Tenant, Helix]]:
    """A tenant with sixty memories, served by a role that may do everything."""
    tenant = server.create(f"v{len(server.tenants())}")
    settings = load({"home": tmp_path / "home", "engine": server.url, "tenant": tenant.slug}, environ={}, cwd=tmp_path)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        for number in range(60):
            words = [WORDS[(number * step) % len(WORDS)] for step in (1, 5, 7)]
            store(helix, f"{' '.join(words)} {number}")
        yield tenant, helix


def store(helix: Helix, said: str) -> str:
    return memories.store(helix, StoreRequest(trigger=said, resolution="", kind="fact", scope="shop")).id


def exact(helix: Helix, vector: np.ndarray) -> list[str]:
    """Return the ids of the passages, those first whose vectors are nearest."""
    with helix.store.journal.snapshot() as (_, held):
        kept = [(passage.id, np.frombuffer(passage.vector, np.float32)) for passage in held.passages()]
    return [found for found, _ in sorted(kept, key=lambda one: -float(one[1] @ vector))]


@pytest.mark.soak
def test_the_index_finds_what_is_near_and_follows_what_changes(shop: tuple[Tenant, Helix], server: Server) -> None:
    tenant, helix = shop
    vector = HashEmbedder().embed([QUESTION])[0]
    with pytest.raises(GraphUnavailableError, match="no index"):
        helix.store.vectors.vector_search(vector.tolist(), 5)
    assert server.index_vectors(tenant.slug) == len(exact(helix, vector))
    found = helix.store.vectors.vector_search(vector.tolist(), 20)
    assert len({ident for ident, _ in found} & set(exact(helix, vector)[:20])) >= 18  # ties, and half precision
    assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
    kept = store(helix, QUESTION)
    ((first, cosine), *_) = helix.store.vectors.vector_search(vector.tolist(), 5)
    assert first.startswith(kept)
    assert cosine == pytest.approx(1, abs=0.01)
    assert server.index_vectors(tenant.slug) == len(exact(helix, vector)), "made anew, it holds the same"
    plan = plan_hard_forget(helix.store, kept)
    job(helix.store, lambda ticket: hard_forget(helix.store, plan, ticket))
    assert not any(ident.startswith(kept) for ident, _ in helix.store.vectors.vector_search(vector.tolist(), 50))


@pytest.mark.soak
def test_a_role_that_serves_is_shown_the_index_of_its_tenant_alone(shop: tuple[Tenant, Helix], server: Server) -> None:
    tenant, helix = shop
    with server.connection() as connection:
        connection.execute("DROP ROLE IF EXISTS searching")
        connection.execute("CREATE ROLE searching LOGIN")
    server.grant("searching")
    server.index_vectors(tenant.slug)
    name = f"nearest_{tenant.id}_1"
    with psycopg.connect(server.url.replace("postgres@", "searching@"), autocommit=True) as serving:
        counted = []
        for asked in (tenant.id, tenant.id + 1):
            serving.execute("SELECT set_config('helix.tenant', %s, false)", (str(asked),))
            counted.append(serving.execute(f"SELECT count(*) FROM {name}".encode()).fetchone())
        assert counted == [(len(exact(helix, np.zeros(64, np.float32))),), (0,)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            serving.execute(f"DELETE FROM {name}".encode())
    with closing(Server(server.url.replace("postgres@", "searching@"))) as as_role:
        backend = TenantDatabase(as_role, tenant.id, None, Path())
        assert len(backend.vector_search(HashEmbedder().embed([QUESTION])[0].tolist(), 10)) == 10


@pytest.mark.soak
def test_what_a_tenant_was_searched_by_goes_with_it(shop: tuple[Tenant, Helix], server: Server) -> None:
    tenant, helix = shop
    server.index_vectors(tenant.slug)
    helix.close()
    server.delete(tenant.id)
    with server.connection() as connection:
        left = connection.execute("SELECT relname FROM pg_class WHERE relname LIKE 'nearest\\_%'").fetchall()
        triggers = connection.execute("SELECT tgname FROM pg_trigger WHERE tgname LIKE 'keep\\_nearest\\_%'").fetchall()
    assert not [name for (name,) in left + triggers if f"_{tenant.id}_" in name]


def test_a_tenant_without_vectors_has_nothing_to_index(server: Server) -> None:
    empty = server.create(f"v{len(server.tenants())}")
    with pytest.raises(StoreError, match="no vectors"):
        server.index_vectors(empty.slug)


@pytest.mark.soak
def test_the_server_reads_vectors_as_they_are_kept(shop: tuple[Tenant, Helix], server: Server) -> None:
    server.index_vectors(shop[0].slug)
    rows = np.random.default_rng(1).normal(0, 0.2, (500, 8)).astype(np.float32)
    rows[0] = [0, -0.0, 1, -1, 1e-40, -1e-8, 6e-5, 0.999]
    with server.connection() as connection:
        statement = "SELECT half_vector(kept)::real[] FROM unnest($1::bytea[]) kept"
        told = connection.execute(statement, ([row.tobytes() for row in rows],))
        read = np.array([row for (row,) in told.fetchall()])
    assert np.allclose(read, rows.astype(np.float16), atol=1e-7)


@pytest.mark.soak
def test_an_index_without_its_extension_is_dropped_or_made_anew(shop: tuple[Tenant, Helix], server: Server) -> None:
    """A write is refused in words that name the way out; after either way the tenant goes on."""
    tenant, helix = shop
    vector = HashEmbedder().embed([QUESTION])[0].tolist()
    for way in (server.drop_index, server.index_vectors):
        server.index_vectors(tenant.slug)
        with server.connection() as connection:
            connection.execute("DROP EXTENSION vector CASCADE")
        with pytest.raises(StoreError, match="lost pgvector") as refused:
            store(helix, f"the till is lost {way.__name__}")
        assert "helix engine index --drop" in refused.value.hint
        assert way(tenant.slug) > 0
        kept = store(helix, f"the till is back {way.__name__}")
    assert server.index_vectors(tenant.slug) == len(exact(helix, np.array(vector)))
    assert any(ident.startswith(kept) for ident, _ in helix.store.vectors.vector_search(vector, 200))
    assert server.drop_index(tenant.slug) == 1
    assert server.drop_index(tenant.slug) == 0
    with pytest.raises(GraphUnavailableError, match="no index"):
        helix.store.vectors.vector_search(vector, 5)


@pytest.mark.soak
def test_an_index_that_no_server_opens_is_in_the_way_of_no_write(shop: tuple[Tenant, Helix], server: Server) -> None:
    """As where a standby that was promoted lacks the library."""
    tenant, helix = shop
    server.index_vectors(tenant.slug)
    named = "UPDATE pg_proc SET probin = $1 WHERE probin = $2"
    with server.connection() as connection:
        connection.execute(named, ("$libdir/absent", "$libdir/vector"))
        others = "pid <> pg_backend_pid() AND backend_type = 'client backend'"  # waited for: a write may meet its end
        connection.execute(f"SELECT pg_terminate_backend(pid, 20_000) FROM pg_stat_activity WHERE {others}".encode())
        try:
            with pytest.raises(StoreError, match="lost pgvector"):
                store(helix, "the till is lost")
            with pytest.raises(StoreError, match="its table stays"):
                server.drop_index(tenant.slug)
            store(helix, "the till is back")
        finally:
            connection.execute(named, ("$libdir/vector", "$libdir/absent"))
    assert server.drop_index(tenant.slug) == 1
