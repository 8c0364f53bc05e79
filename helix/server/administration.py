"""Administration: what an owner of a tenant may do about its keys and people, over HTTP, as JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from helix.api.api_errors import refused
from helix.api.permissions import PRINCIPAL
from helix.errors import ForbiddenError, HelixError, InvalidInputError
from helix.journal.postgres.postgres_server import Server, Tenant
from helix.journal.postgres.tenant_states import ACTIVE, name_is_anothers, not_served
from helix.model.principal import Principal, Role
from helix.server.accounts import LINK, LINK_SECONDS, Accounts
from helix.server.people import lets_in_still

PREFIX = "/v1"
_DAY = 86_400.0
_MOST_BYTES = 64 << 10
_MOST_DAYS = 3_650

Act = Callable[[Tenant, Principal, dict[str, Any], Request], Any]


class Administration:
    """The routes of `/v1`, for owners of the tenant that their key is of."""

    def __init__(self, server: Server, accounts: Accounts, url: str, claim: str = "") -> None:
        """`url` is where the server is reached: links begin with it. `claim` is as for People."""
        self._server = server
        self._accounts = accounts
        self._url = url.rstrip("/")
        self._claim = claim

    def app(self) -> Router:
        """Return what answers the owners of tenants below PREFIX."""
        return Router(
            [
                Route(f"{PREFIX}/keys", self._by_owner(self._keys), methods=["GET"]),
                Route(f"{PREFIX}/keys", self._by_owner(self._new_key), methods=["POST"]),
                Route(f"{PREFIX}/keys/{{prefix}}", self._by_owner(self._revoke), methods=["DELETE"]),
                Route(f"{PREFIX}/links", self._by_owner(self._new_link), methods=["POST"]),
                Route(f"{PREFIX}/users", self._by_owner(self._users), methods=["GET"]),
                Route(f"{PREFIX}/users", self._by_owner(self._add_user), methods=["POST"]),
                Route(f"{PREFIX}/users", self._by_owner(self._remove_user), methods=["DELETE"]),
                Route(f"{PREFIX}/audit", self._by_owner(self._audit), methods=["GET"]),
            ]
        )

    def _by_owner(self, act: Act) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            principal: Principal = request.scope[PRINCIPAL]
            try:
                if principal.role is not Role.OWNER or principal.scopes:
                    raise ForbiddenError(
                        f"{principal.name} is not an owner of the whole tenant: only owners may do this"
                    )
                body = await _body(request)

                def work() -> Any:
                    tenant = self._server.tenant(principal.tenant)
                    if tenant.id != principal.number:
                        raise name_is_anothers(principal.tenant)
                    if tenant.state != ACTIVE:
                        raise not_served(tenant.state, tenant.slug)
                    return act(tenant, principal, body, request)

                return _json(await asyncio.to_thread(work))
            except HelixError as error:
                return refused(error)

        return answer

    def _keys(self, tenant: Tenant, _: Principal, body: dict[str, Any], request: Request) -> Any:
        return {"keys": [asdict(one) for one in self._accounts.keys(tenant)]}

    def _new_key(self, tenant: Tenant, by: Principal, body: dict[str, Any], request: Request) -> Any:
        days = body.get("days")
        if days is not None and not (isinstance(days, int | float) and 0 < days <= _MOST_DAYS):
            raise InvalidInputError(f"`days` is a number of days, at most {_MOST_DAYS}")
        key = self._accounts.create_key(
            tenant,
            _text(body, "name"),
            role_of(_text(body, "role")),
            by=by.name,
            scopes=_texts(body, "scopes"),
            seconds=None if days is None else days * _DAY,
        )
        return {"key": key}

    def _revoke(self, tenant: Tenant, by: Principal, body: dict[str, Any], request: Request) -> Any:
        self._accounts.revoke(tenant, request.path_params["prefix"], by=by.name)
        return {"revoked": request.path_params["prefix"]}

    def _new_link(self, tenant: Tenant, by: Principal, body: dict[str, Any], request: Request) -> Any:
        link = self._accounts.create_key(
            tenant,
            _text(body, "name"),
            role_of(_text(body, "role")),
            by=by.name,
            scopes=_texts(body, "scopes"),
            seconds=LINK_SECONDS,
            kind=LINK,
        )
        return {"url": f"{self._url}/open/{link}", "seconds": LINK_SECONDS}

    def _users(self, tenant: Tenant, _: Principal, body: dict[str, Any], request: Request) -> Any:
        return {"users": [asdict(one) for one in self._accounts.members(tenant)]}

    def _add_user(self, tenant: Tenant, by: Principal, body: dict[str, Any], request: Request) -> Any:
        issuer, subject = _text(body, "issuer"), _text(body, "subject")
        name, role = _text(body, "name") if "name" in body else "", role_of(_text(body, "role"))
        self._accounts.add_member(tenant, issuer, subject, role, by=by.name, name=name, scopes=_texts(body, "scopes"))
        return {"added": subject}

    def _remove_user(self, tenant: Tenant, by: Principal, body: dict[str, Any], request: Request) -> Any:
        self._accounts.remove_member(tenant, _text(body, "issuer"), _text(body, "subject"), by=by.name)
        left = lets_in_still(self._claim)
        return {"removed": _text(body, "subject"), **({"warning": left} if left else {})}

    def _audit(self, tenant: Tenant, _: Principal, body: dict[str, Any], request: Request) -> Any:
        return {"audit": [asdict(one) for one in self._accounts.audit(first=1_000, tenant=tenant.id)]}


def role_of(text: str) -> Role:
    """Return a role in a tenant by its word. Raises InvalidInputError."""
    try:
        return Role(text)
    except ValueError:
        raise InvalidInputError(f"{text!r:.40} is not a role", hint=f"one of: {', '.join(Role)}") from None


async def _body(request: Request) -> dict[str, Any]:
    if request.method not in ("POST", "DELETE"):
        return {}
    if not request.headers.get("content-type", "application/json").startswith("application/json"):
        raise InvalidInputError("the body is JSON", hint="content-type: application/json")
    content = await request.body()  # the front has read it, within its bounds
    if len(content) > _MOST_BYTES:
        raise InvalidInputError(f"the body has more than {_MOST_BYTES} bytes")
    try:
        told = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise InvalidInputError("the body is one JSON object")
    return told


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value or not value.isprintable():
        raise InvalidInputError(f"`{name}` is wanted, a text")
    return value


def _texts(body: dict[str, Any], name: str) -> list[str]:
    value = body.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and one.isprintable() for one in value):
        raise InvalidInputError(f"`{name}` is a list of texts")
    return value


def _json(answer: Any) -> Response:
    def plain(value: Any) -> Any:
        if isinstance(value, datetime):
            return value.isoformat()
        raise TypeError(type(value))

    return Response(json.dumps(answer, default=plain), media_type="application/json")
