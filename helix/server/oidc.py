"""OpenID Connect: whether a token was issued to a person by the issuer that is set, for this server."""

from __future__ import annotations

import json
import math
import threading
import time
import urllib.request
from collections.abc import Callable
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
_KEYS_SECONDS, _KEYS_SECONDS_AWAY = 300, 3_600
"""How long a key is believed without asking anew, and where the issuer does not answer."""
_AGAIN_SECONDS = 10.0
_COOLDOWN_SECONDS = 30.0


class _SameAddress(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow none: an issuer is where it is."""


class _IssuerKeys:
    """The keys that an issuer signs with, as it told them last; one thread asks, and nobody waits for it twice."""

    def __init__(self, issuer: str, cooldown: float, clock: Callable[[], float]) -> None:
        self._issuer = issuer
        self._cooldown = cooldown
        self._clock = clock
        self._asking = threading.Lock()
        self._place = ""
        self._keys: dict[str, jwt.PyJWK] = {}
        self._told = self._asked = -math.inf
        self._fault = ""

    def of(self, key_id: object) -> jwt.PyJWK:
        """Return the key of an id. Raises UnauthorizedError for one that the issuer does not have.

        EngineError where the issuer cannot be asked. A key is believed for 5 minutes, and while the issuer is away for
        an hour: what it withdraws ends with that, and what it is asked for by strangers holds nobody up.
        """
        known = self._told_within(_KEYS_SECONDS, key_id)
        if known is None:
            self._ask_again(waits=not self._keys)
            known = self._told_within(_KEYS_SECONDS_AWAY, key_id)
        if known is not None:
            return known
        if self._fault:
            raise EngineError(f"the issuer does not tell its keys: {self._fault}", hint="try again")
        raise UnauthorizedError("the token is signed with no key of the issuer", hint="sign in again")

    def _told_within(self, seconds: float, key_id: object) -> jwt.PyJWK | None:
        known = isinstance(key_id, str) and self._clock() - self._told < seconds
        return self._keys.get(str(key_id)) if known else None

    def _ask_again(self, *, waits: bool) -> None:
        """Have the issuer tell its keys, unless it was asked just now; who has keys does not wait for one who asks."""
        if not self._asking.acquire(blocking=waits):
            return
        try:
            since = self._clock() - self._asked
            if since < (_AGAIN_SECONDS if self._fault else self._cooldown):
                return
            try:
                self._place = self._place or self._found()
                told = _fetched(self._place)["keys"]
                self._keys = {str(key.key_id): key for key in _usable(told) if key.key_id}
                self._told, self._fault = self._clock(), ""
            except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, ConfigError) as error:
                self._fault = str(error)[:200] or type(error).__name__  # such as a page in the place of the keys
            self._asked = self._clock()
        finally:
            self._asking.release()

    def _found(self) -> str:
        place = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        told = _fetched(place)
        if told["issuer"] != self._issuer:
            raise ValueError(f"{place} is of another issuer, check `oidc_issuer`")
        keys = str(told["jwks_uri"])
        _check(keys)
        return keys


class Verifier:
    """Checks tokens of one issuer."""

    def __init__(
        self,
        issuer: str,
        audience: str,
        *,
        cooldown: float = _COOLDOWN_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`issuer` is the address as tokens have it in `iss`; `audience` is what they have in `aud`.

        `cooldown` is how long (seconds) a key that nobody knows has the issuer asked no second time.
        """
        _check(issuer)
        if not audience:
            raise ConfigError("`oidc_issuer` needs `oidc_audience`", hint="it is what tokens name in `aud`")
        self.issuer = issuer
        self._audience = audience
        self._keys = _IssuerKeys(issuer, cooldown, clock)

    def claims(self, token: str) -> dict[str, Any]:
        """Return the claims of a token of the server's issuer. Raises UnauthorizedError where it is not to be believed.

        EngineError: the issuer cannot be asked for its keys.
        """
        if len(token) > _LONGEST:
            raise UnauthorizedError("the token is longer than any is")
        try:
            if jwt.decode(token, options={"verify_signature": False}).get("iss") != self.issuer:
                raise UnauthorizedError("the token is of another issuer", hint="sign in again")
            key = self._keys.of(jwt.get_unverified_header(token).get("kid"))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._audience,
                issuer=self.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
            claims["sub"].encode()
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise UnauthorizedError(f"the token does not hold: {error}", hint="sign in again") from error
        return claims


def _fetched(address: str) -> Any:
    with urllib.request.build_opener(_SameAddress).open(address, timeout=_SECONDS) as answer:
        return json.loads(answer.read(_MOST_BYTES))


def _usable(told: list[dict[str, Any]]) -> list[jwt.PyJWK]:
    """Return the keys for signatures among those told, as far as they say what they are for (RFC 7517, 4.2, 4.3)."""
    signing = [key for key in told if key.get("use", "sig") == "sig" and "verify" in key.get("key_ops", ("verify",))]
    try:
        return jwt.PyJWKSet(signing).keys
    except jwt.PyJWKSetError:  # there is none that can be used, which is an answer
        return []


def _check(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")):
        raise ConfigError("an issuer's address begins with https://", hint="set `oidc_issuer`")
