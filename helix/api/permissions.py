"""Permissions: whether who asks may ask for it, and within which scopes; the owner of the machine may ask for all."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from helix.errors import ForbiddenError
from helix.memory.change.find import memory_of
from helix.model.facets import Facets
from helix.model.memory import GLOBAL_SCOPE, scopes_seen
from helix.model.principal import Principal
from helix.model.reports import Page, Version
from helix.operations.listed import Operation
from helix.service import Helix

PRINCIPAL = "helix.principal"
"""Key of an ASGI scope: who asks, where a server serves many; absent where the machine's owner does."""

_NAMING = "name_or_id"


def actor_of(scope: Mapping[str, Any]) -> str:
    """Return the actor of an API request by its ASGI scope, named in changes; empty for the machine's owner."""
    principal: Principal | None = scope.get(PRINCIPAL)
    return "" if principal is None else principal.name


def check_role(principal: Principal | None, operation: Operation) -> None:
    """Raise ForbiddenError where the API does not permit its caller's role an operation."""
    if principal is None:
        return
    least = operation.role
    if least is None:
        raise ForbiddenError(
            f"`{operation.name}` names files or keys of the server's machine, and nobody may ask for it from elsewhere",
            hint="whoever runs the server may, by `helix` there; with HELIX_SERVER empty `helix` asks your own machine",
        )
    if not principal.role.reaches(least):
        words = f"{principal.name} is {_a(principal.role)}, and `{operation.name}` takes {_a(least)}"
        raise ForbiddenError(words, hint="have an owner of the tenant give you another key: `helix key create`")
    if principal.scopes and not operation.scoped:
        raise ForbiddenError(
            f"`{operation.name}` may show more than the scopes that {principal.name} is bound to",
            hint="it takes a key for the whole tenant",
        )


def check_unbound(principal: Principal | None, what: str) -> None:
    """Raise ForbiddenError for an API key that is bound to scopes where `what` would lead out of them."""
    if principal is not None and principal.scopes:
        raise ForbiddenError(f"{what} may lead out of the scopes that {principal.name} is bound to")


def within_scopes(
    helix: Helix, principal: Principal | None, operation: Operation, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of an API operation as they are within the scopes of who asks.

    A scope that is not said is the one scope of a key that is bound to one. What lies above a scope is read there, as
    always, and never written. Raises ForbiddenError for another scope, and NotFoundError for a memory of another one.
    """
    if principal is None or not principal.scopes:
        return dict(values)
    seen = frozenset(principal.scopes) if operation.writes else _read_by(principal)
    given, bound = dict(values), False
    for name, value in values.items():
        if is_dataclass(value) and not isinstance(value, type) and "scope" in {field.name for field in fields(value)}:
            scope: str | None = value.scope  # type: ignore[attr-defined]  # just looked for
            if operation.name != "edit":
                given[name], bound = replace(value, scope=_scope(principal, seen, scope)), True
            elif scope is not None and scope not in principal.scopes:
                raise ForbiddenError(f"{principal.name} is not bound to {scope!r:.100}")
    if "scope" in _parameters(operation):
        given["scope"], bound = _scope(principal, seen, values.get("scope")), True
    if _NAMING in values:
        given[_NAMING], bound = memory_of(helix.store.index, values[_NAMING], seen).id, True
    if not bound:
        raise ForbiddenError(f"`{operation.name}` takes no scope, and {principal.name} is bound to some")
    return given


def as_seen_by(principal: Principal | None, answer: Any) -> Any:
    """Return an API answer without its counts in other scopes: each facet leaves out the filter of its own.

    So it is without versions of a memory that were written in another scope, before or since it was moved; why one was
    written may name what lies there.
    """
    if principal is None or not principal.scopes:
        return answer
    seen = _read_by(principal)
    if isinstance(answer, Page):
        return answer.each(lambda one: _seen_version(one, seen) if isinstance(one, Version) else one)
    if isinstance(answer, Facets):
        return replace(answer, scopes=tuple(one for one in answer.scopes if one.value in seen))
    return answer


def _seen_version(version: Version, seen: Collection[str]) -> Version | None:
    return replace(version, reason="") if version.memory.scope in seen else None


def _read_by(principal: Principal) -> frozenset[str]:
    return frozenset(principal.scopes).union(*(scopes_seen(scope) for scope in principal.scopes))


def _parameters(operation: Operation) -> frozenset[str]:
    code = operation.function.__code__
    return frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def _scope(principal: Principal, seen: Collection[str], asked: str | None) -> str:
    if asked in (None, GLOBAL_SCOPE) and len(principal.scopes) == 1:
        return principal.scopes[0]
    if asked is None or asked not in seen:
        words = "no scope is said" if asked is None else f"{principal.name} is not bound to {asked!r:.100}"
        raise ForbiddenError(words, hint=f"it may ask in: {', '.join(principal.scopes)}")
    return asked


def _a(role: str) -> str:
    return f"an {role}" if role[0] in "aeio" else f"a {role}"
