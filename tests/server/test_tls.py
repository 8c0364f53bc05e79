"""TLS: processes that speak it, to clients and to each other, by a certificate of their own."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from tests.server.team import RECALL, STORE, Process, Team, gathered
from tests.waiting import MOST_SECONDS


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for this machine's loopback, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "helix")])
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
    certificate, private = folder / "certificate.pem", folder / "key.pem"
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
