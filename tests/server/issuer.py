"""An issuer of OpenID Connect of the tests' own: real HTTP, real signatures, keys that can be changed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

AUDIENCE = "helix"


class Issuer:
    """Signs tokens and tells its keys."""

    def __init__(self) -> None:
        self.address = ""
        self.asked = 0
        self.told = b""
        """What it tells in the place of its keys; empty: them."""
        self._goes_on = threading.Event()
        self._goes_on.set()
        self._held = threading.Event()
        self.turn()

    def turn(self) -> None:
        """Have another key from now on, as issuers do."""
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.name = f"key-{time.monotonic_ns()}"

    @contextmanager
    def hanging(self) -> Iterator[threading.Event]:
        """Answer nobody meanwhile; the event is set once somebody waits."""
        self._goes_on.clear()
        try:
            yield self._held
        finally:
            self._goes_on.set()

    def answers(self) -> None:
        """Return when it answers."""
        if not self._goes_on.is_set():
            self._held.set()
            self._goes_on.wait()

    def keys(self) -> dict[str, Any]:
        """Return what is told of the key."""
        told = json.loads(ECAlgorithm.to_jwk(self.private.public_key()))
        return {"keys": [{**told, "kid": self.name, "use": "sig", "alg": "ES256"}]}

    def token(self, subject: str = "ada", **changed: Any) -> str:
        """Return a token that holds for five minutes; a claim of None is left out."""
        now = int(time.time())
        claims = {"iss": self.address, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + 300, **changed}
        kept = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(kept, self.private, algorithm="ES256", headers={"kid": self.name})


@contextmanager
def issuing() -> Iterator[Issuer]:
    """Lend an issuer that answers on this machine."""
    issuer = Issuer()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.asked += 1
            issuer.answers()
            told = {
                "/.well-known/openid-configuration": {"issuer": issuer.address, "jwks_uri": f"{issuer.address}/keys"},
                "/keys": issuer.keys(),
            }.get(self.path)
            body = (issuer.told if self.path == "/keys" else b"") or json.dumps(told).encode()
            self.send_response(200 if told is not None else 404)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    issuer.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
