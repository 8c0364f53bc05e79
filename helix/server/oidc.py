"""OpenID Connect: whether a token was issued to a person by the issuer that is set, for this server."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from typing import Any
from urllib.parse import urlsplit

import jwt

from helix.errors import ConfigError, EngineError, UnauthorizedError

_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures of a key pair alone: with a shared secret, whoever can check a token can make one."""
_SECONDS = 5
_MOST_BYTES = 1 << 20
_LEEWAY = 30
_LONGEST = 16_384
_KEYS_SECONDS = 300
_AGAIN_SECONDS = 10.0
_COOLDOWN_SECONDS = 30.0


class _SameAddress(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow none: an issuer is where it is."""


class Verifier:
    """Checks tokens of one issuer; its keys are fetched when they are first needed, and again for a new one."""

    def __init__(self, issuer: str, audience: str, *, cooldown: float = _COOLDOWN_SECONDS) -> None:
        """`issuer` is the address as tokens have it in `iss`; `audience` is what they have in `aud`.

        `cooldown` is how long (seconds) a key that nobody knows has the issuer asked no second time.
        """
        _check(issuer)
        if not audience:
            raise ConfigError("`oidc_issuer` needs `oidc_audience`", hint="it is what tokens name in `aud`")
        self.issuer = issuer
        self._audience = audience
        self._cooldown = cooldown
        self._turn = threading.Lock()
        self._failed = -_AGAIN_SECONDS
        self._keys: jwt.PyJWKClient | None = None

    def claims(self, token: str) -> dict[str, Any]:
        """Return the claims of a token of the server's issuer. Raises UnauthorizedError where it is not to be believed.

        EngineError: the issuer cannot be asked for its keys.
        """
        if len(token) > _LONGEST:
            raise UnauthorizedError("the token is longer than any is")
        try:
            if jwt.decode(token, options={"verify_signature": False}).get("iss") != self.issuer:
                raise UnauthorizedError("the token is of another issuer", hint="sign in again")
            key = self._client().get_signing_key_from_jwt(token)
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._audience,
                issuer=self.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            if isinstance(error, jwt.PyJWKClientConnectionError):
                raise EngineError("the issuer's keys cannot be fetched", hint="try again") from error
            raise UnauthorizedError(f"the token does not hold: {error}", hint="sign in again") from error
        except (ValueError, RecursionError, OSError) as error:  # such as a page in place of the keys
            raise EngineError("the issuer does not tell its keys", hint="try again") from error
        return claims

    def _client(self) -> jwt.PyJWKClient:
        with self._turn:  # one asks; who comes meanwhile, or soon after it failed, asks no second time
            if self._keys is None and time.monotonic() - self._failed < _AGAIN_SECONDS:
                raise EngineError("the issuer's keys cannot be fetched", hint="try again")
            self._failed = time.monotonic()
            return self._found()

    def _found(self) -> jwt.PyJWKClient:
        if self._keys is None:
            place = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
            try:
                opener = urllib.request.build_opener(_SameAddress)
                with opener.open(place, timeout=_SECONDS) as answer:
                    told = json.loads(answer.read(_MOST_BYTES))
                if told["issuer"] != self.issuer:
                    raise ValueError(told["issuer"])
                keys = str(told["jwks_uri"])
                _check(keys)
            except (OSError, ValueError, KeyError, TypeError, ConfigError) as error:
                raise EngineError(f"{place} does not tell where its keys are", hint="check `oidc_issuer`") from error
            self._keys = jwt.PyJWKClient(
                keys, cache_keys=True, lifespan=_KEYS_SECONDS, timeout=_SECONDS, cooldown_duration=self._cooldown
            )
        return self._keys


def _check(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")):
        raise ConfigError("an issuer's address begins with https://", hint="set `oidc_issuer`")
