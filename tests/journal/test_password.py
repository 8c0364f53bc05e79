"""Holds to whom the password of a server of PostgreSQL is said."""

from __future__ import annotations

import socket
import threading
from contextlib import closing, suppress

import pytest

from helix.errors import EngineError
from helix.journal.postgres.postgres_server import Server
from tests.postgres_cluster import running
from tests.waiting import MOST_SECONDS

_SECRET = "between-us-two"
_SAY_IT = b"R\x00\x00\x00\x08\x00\x00\x00\x03"  # what a server says that wants the password as it is


def _listen(listener: socket.socket, heard: bytearray) -> None:
    """Be asked once, without TLS, and hear what is said to one who wants the password."""
    with listener.accept()[0] as client, suppress(OSError):
        client.settimeout(MOST_SECONDS)
        while (said := client.recv(4_096)) and len(said) == 8:  # may it be by TLS, or GSSAPI?
            client.sendall(b"N")
        client.sendall(_SAY_IT)
        heard += client.recv(4_096)


@pytest.mark.parametrize(("wanted", "told"), [("", False), ("password", True)])
def test_whoever_listens_in_a_servers_place_is_told_no_password(
    monkeypatch: pytest.MonkeyPatch, wanted: str, told: bool
) -> None:
    monkeypatch.setenv("PGPASSWORD", _SECRET)
    monkeypatch.delenv("PGSSLMODE", raising=False)
    monkeypatch.delenv("PGREQUIREAUTH", raising=False)
    if wanted:
        monkeypatch.setenv("PGREQUIREAUTH", wanted)
    heard = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listening = threading.Thread(target=_listen, args=(listener, heard))
        listening.start()
        address = f"postgresql://ada@127.0.0.1:{listener.getsockname()[1]}/helix?gssencmode=disable"
        with closing(Server(address)) as server, pytest.raises(EngineError):
            server.check()
        listening.join(MOST_SECONDS)
    assert (_SECRET.encode() in heard) is told


@pytest.mark.soak
def test_a_wrong_password_is_called_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "another")
    with running() as cluster:
        with closing(Server(cluster.address)) as server, server.connection() as connection:
            connection.execute("CREATE ROLE ada LOGIN PASSWORD 'right'")
        cluster.stop()
        (cluster.data / "pg_hba.conf").write_text("local all all scram-sha-256\n", "utf-8")
        cluster.start()
        with closing(Server(cluster.address.replace("postgres@", "ada@", 1))) as server:
            with pytest.raises(EngineError, match="password") as wrong:
                server.check()
            assert "PGPASSWORD" in str(wrong.value.hint)
            monkeypatch.delenv("PGPASSWORD")
            with pytest.raises(EngineError, match="password") as none:
                server.check()
            assert none.value.hint == wrong.value.hint
