"""People: who shows what, a key of the server's own or a token of the issuer that is set."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from helix.errors import ForbiddenError
from helix.model.principal import Principal, Role
from helix.server.accounts import KNOWN_SECONDS, Accounts, Memberships, called
from helix.server.oidc import Verifier
from helix.settings import TENANT_NAME

_MOST_KNOWN = 10_000


class People:
    """Knows who asks; any thread may ask. What it read counts for KNOWN_SECONDS."""

    def __init__(self, accounts: Accounts, verifier: Verifier | None = None, claim: str = "") -> None:
        """`claim` names the claim that says `TENANT:ROLE`, beside what `helix user add` said; empty for none."""
        self.accounts = accounts
        self._verifier = verifier
        self._claim = claim
        self._known: OrderedDict[bytes, tuple[float, Memberships]] = OrderedDict()

    def known(self, shown: str, tenant: str = "") -> Principal | None:
        """Return who shows a key or a token, in the tenant that they name; None where nobody known does.

        Who names none is meant in the first tenant that their issuer names, else in the one that whoever runs the
        server added them to first, and in no other one while that lets nobody in. Raises UnauthorizedError for a token
        that does not hold, ForbiddenError for a tenant that is not theirs and where none is known, and EngineError.
        """
        if shown.startswith("hx_"):
            principal = self.accounts.principal_of(shown)
            if principal is None:
                return None
            return _in(Memberships(of={principal.tenant: principal}, home=principal.tenant), tenant)
        if self._verifier is None or shown.count(".") != 2:
            return None
        return _in(self._memberships(self._verifier, shown), tenant)

    def _memberships(self, verifier: Verifier, token: str) -> Memberships:
        digest = sha256(token.encode("utf-8", "surrogatepass")).digest()
        known = self._known.get(digest)
        if known is not None and time.monotonic() - known[0] < KNOWN_SECONDS:
            return known[1]
        asked = time.monotonic()
        claims = verifier.claims(token)
        claimed = {one.tenant: one for one in self._claimed(claims)}
        joined = self.accounts.memberships(verifier.issuer, str(claims["sub"]))
        found = Memberships(of={**claimed, **joined.of}, home=next(iter(claimed), joined.home))
        self._known[digest] = asked, found
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return self._known[digest][1]

    def _claimed(self, claims: Mapping[str, Any]) -> Iterable[Principal]:
        """Yield what an issuer says by itself of who may use which tenant; what is no such word counts for nothing."""
        said = claims.get(self._claim) if self._claim else None
        for one in [said] if isinstance(said, str) else said if isinstance(said, list) else []:
            tenant, colon, role = one.partition(":") if isinstance(one, str) else ("", "", "")
            if colon and TENANT_NAME.fullmatch(tenant) and role in list(Role):
                name = called(str(claims["sub"]), claims.get("email"), claims.get("name"))
                yield Principal(tenant=tenant, number=0, name=name, role=Role(role))


def lets_in_still(claim: str) -> str:
    """Return in words what a person's removal leaves where an issuer's claim lets people in; empty where none does."""
    left = f"the claim `{claim}` of their issuer may let them in still, in the role that it says and in every scope"
    return f"{left}: add them with a lesser role or with scopes, which count instead of it" if claim else ""


def _in(found: Memberships, tenant: str) -> Principal:
    principal = found.of.get(tenant or found.home)
    if principal is None and found.of and not tenant:
        hint = f"name one in the header X-Helix-Tenant: {', '.join(sorted(found.of))}"
        raise ForbiddenError("the request names no tenant, and there is none that this person is in without", hint=hint)
    if principal is None:
        raise ForbiddenError("who asks may not use this tenant", hint="`helix user add` lets a person in")
    return principal
