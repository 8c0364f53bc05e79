"""TLS: processes that speak it, to clients and to each other, by a certificate of their own."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from helix.api.connection_limits import guarded
from helix.errors import ConfigError
from helix.server.running import Listening
from tests.server.team import RECALL, STORE, Process, Team, gathered
from tests.waiting import MOST_SECONDS, until


def _certificate(folder: Path, of: str = "") -> tuple[Path, Path]:
    """Write a certificate for this machine's loopback, signed by itself, and its key; `of` is in the files' names."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"helix{of}")])
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(here, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / f"certificate{of}.pem", folder / f"key{of}.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    return certificate, private


async def _answered_by_websocket(process: Process, key: str) -> None:
    trusted = ssl.create_default_context(cafile=str(process.home.parent / "certificate.pem"))
    async with connect(
        f"{process.url.replace('https', 'wss', 1)}/graphql",
        ssl=trusted,
        proxy=None,
        subprotocols=[Subprotocol("graphql-transport-ws")],
        additional_headers={"authorization": f"Bearer {key}"},
    ) as socket:
        await socket.send(json.dumps({"type": "connection_init"}))
        assert json.loads(await asyncio.wait_for(socket.recv(), MOST_SECONDS))["type"] == "connection_ack"
        asks = {"id": "1", "type": "subscribe", "payload": {"query": "{ status { edges } }"}}
        await socket.send(json.dumps(asks))
        told = json.loads(await asyncio.wait_for(socket.recv(), MOST_SECONDS))
        assert told["payload"]["data"]["status"]["edges"] >= 0


def test_whoever_never_shakes_hands_makes_room(tmp_path: Path) -> None:
    certificate, private = _certificate(tmp_path)
    tls = Listening(host="127.0.0.1", port=0, certificate=str(certificate), private_key=str(private)).tls()
    most, app = 8, Starlette(routes=[Route("/", lambda _: PlainTextResponse("here"))])
    config = guarded(app, ("127.0.0.1", 0), grace_seconds=1, most=most, tls=tls, port=0)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.started)
    address = server.servers[0].sockets[0].getsockname()
    silent = [socket.create_connection(address, MOST_SECONDS) for _ in range(3 * most)]
    try:
        for one in silent[: 2 * most]:
            with suppress(ConnectionError):
                assert one.recv(1) == b""
        trusted = ssl.create_default_context(cafile=str(certificate))
        for _ in range(most + 2):  # who has gone is in the way of nobody
            with httpx.Client(trust_env=False, timeout=MOST_SECONDS, verify=trusted) as client:
                for _ in range(2):
                    assert client.get(f"https://127.0.0.1:{address[1]}/").text == "here"
    finally:
        for one in silent:
            one.close()
        server.should_exit = True
        thread.join()


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[Team, list[Process]]]:
    """Two processes that speak TLS."""
    certificate, private = _certificate(tmp_path)
    words = ("--certificate", str(certificate), "--private-key", str(private))
    with gathered(tmp_path) as made:
        processes = [one.announced() for one in [made.start(*words), made.start(*words)]]
        for process in processes:
            process.client.close()
            process.client = httpx.Client(
                timeout=180, trust_env=False, verify=ssl.create_default_context(cafile=str(certificate))
            )
        yield made, processes


@pytest.mark.soak
def test_processes_with_certificates_of_their_own_know_each_other_by_an_authority(tmp_path: Path) -> None:
    with gathered(tmp_path) as made:
        pairs = [_certificate(tmp_path, of) for of in ("1", "2")]
        both = tmp_path / "both.pem"
        both.write_bytes(b"".join(certificate.read_bytes() for certificate, _ in pairs))
        words = [("--certificate", str(one), "--private-key", str(key), "--ca", str(both)) for one, key in pairs]
        one, other = [process.announced() for process in [made.start(*words[0]), made.start(*words[1])]]
        key = made.key(made.tenant())
        with httpx.Client(trust_env=False, timeout=180, verify=ssl.create_default_context(cafile=str(both))) as client:
            for process in (one, other):
                told = client.post(
                    f"{process.url}/graphql",
                    json={"query": "{ status { edges } }"},
                    headers={"authorization": f"Bearer {key}"},
                )
                assert told.json()["data"]


@pytest.mark.parametrize("address", ["helix.example", "10.0.0.5:8765", "https://h/team", "ftp://h", "http://", "x"])
def test_addresses_that_lead_nowhere_are_refused(address: str) -> None:
    for listening in (
        Listening(host="127.0.0.1", port=0, url=address),
        Listening(host="127.0.0.1", port=0, internal=address),
    ):
        with pytest.raises(ConfigError, match="not the address of a server"):
            listening.check()


@pytest.mark.parametrize(
    "address", ["https://helix.example", "http://10.0.0.5:8765/", "http://[::1]:80", "https://h:443"]
)
def test_addresses_of_servers_are_taken(address: str) -> None:
    Listening(host="127.0.0.1", port=0, url=address, internal=address).check()


def test_processes_speak_tls_to_clients_and_to_each_other(secure: tuple[Team, list[Process]]) -> None:
    team, (one, other) = secure
    key = team.key(team.tenant())
    assert one.url.startswith("https://")
    one.data(key, STORE, t="the till jams", r="off and on", s="shop")
    found = other.send("POST", "/graphql", key, json={"query": RECALL, "variables": {"q": "till", "s": "shop"}})
    assert found.json()["data"]["recall"]["items"]
    assert "wss://" in found.headers["content-security-policy"]
    asyncio.run(_answered_by_websocket(other, key))
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"{one.url}/healthz", trust_env=False)  # nobody told this client of the certificate
    with pytest.raises(httpx.HTTPError):
        httpx.get(one.url.replace("https", "http") + "/healthz", trust_env=False)
