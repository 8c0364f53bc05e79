"""Accounts: the keys and people that may use a tenant, and the audit of what was administered.

A key is `hx_<prefix>_<secret>`. The prefix finds its row; of the secret, 256 random bits, only the SHA-256 is kept. A
one-time link and a browser's session are keys of other kinds, so that every process knows them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.journal.postgres import audit, memberships
from helix.journal.postgres.postgres_server import Server, Tenant, Whereabouts
from helix.journal.postgres.server_errors import mapped
from helix.journal.postgres.tenant_states import ACTIVE, not_served
from helix.model.principal import Principal, Role
from helix.strands.keyring import digits_of

KEY, LINK, SESSION = "key", "link", "session"
KNOWN_SECONDS = 3.0
"""How long a process believes what it read of a key: what is revoked is refused within 5 s."""
LINK_SECONDS, SESSION_SECONDS = 600, 12 * 3600
_TOKEN = re.compile(r"hx_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
NAME = re.compile(r"(?!operator )[\w@.+-][\w@.+ -]{0,99}")
"""What a key or a person may be called; `operator NAME` says in the audit who ran a command at the server."""
_NAMED = "has up to 100 letters, digits and marks, and does not begin with `operator `"
_MOST_KNOWN = 10_000
_MOST_SCOPES, _LONGEST_SCOPES = 100, 6_000
"""One process tells another of them in a header, whose line may have 8,192 bytes."""

_HOLDS = (
    "SELECT tenant.slug, api_key.name, api_key.role, api_key.scopes, api_key.digest, api_key.kind, peer,"
    " tenant.state, tenant.id"
    " FROM api_key"
    " JOIN tenant ON tenant.id = api_key.tenant WHERE prefix = $1 AND revoked_at IS NULL"
    " AND (expires_at IS NULL OR expires_at > now())"
)
_MAKE = (
    "INSERT INTO api_key (prefix, tenant, kind, name, role, scopes, digest, peer, made_by, expires_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => $10))"
)
_USE_LINK = (
    "UPDATE api_key SET revoked_at = now() WHERE prefix = $1 AND digest = $2 AND kind = 'link' AND revoked_at IS NULL"
    " AND expires_at > now() RETURNING tenant, name, role, scopes"
)
_KEYS = (
    "SELECT prefix, kind, name, role, scopes, made_at, made_by, expires_at, revoked_at FROM api_key WHERE tenant = $1"
    " AND (kind <> 'session' OR (revoked_at IS NULL AND expires_at > now())) ORDER BY made_at, prefix"
)
_MEMBER = (
    "SELECT tenant.slug, tenant.id, member.name, member.role, member.scopes,"
    " coalesce(member.tenant = account.home, false) FROM member"
    " JOIN account ON account.id = member.account"
    " JOIN tenant ON tenant.id = member.tenant WHERE issuer = $1 AND subject = $2"
    " ORDER BY joined_at, tenant.id"
)
_MEMBERS = (
    "SELECT issuer, subject, member.name, role, scopes FROM member JOIN account ON account.id = member.account"
    " WHERE tenant = $1 ORDER BY issuer, subject"
)
_JOIN = (
    "INSERT INTO member (account, tenant, role, scopes, name) VALUES ($1, $2, $3, $4, $5)"
    " ON CONFLICT (account, tenant) DO UPDATE SET role = excluded.role, scopes = excluded.scopes, name = excluded.name"
)
_ACCOUNT = (
    "INSERT INTO account (issuer, subject, home) VALUES ($1, $2, $3)"
    " ON CONFLICT (issuer, subject) DO UPDATE SET home = coalesce(account.home, excluded.home) RETURNING id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memberships:
    """A person in each tenant that they may use, by its name. `home` is the name of the one that they are in who name
    none: whoever runs the server, or their issuer, said so. Empty for none, and where it lets them in no more."""

    of: Mapping[str, Principal]
    home: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """What is known of a key but its secret."""

    prefix: str
    kind: str
    name: str
    role: str
    scopes: tuple[str, ...]
    made_at: datetime
    made_by: str
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A person who may use a tenant."""

    issuer: str
    subject: str
    name: str
    role: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One thing that somebody administered."""

    at: datetime
    tenant: str
    actor: str
    action: str
    detail: dict[str, Any]


class Accounts:
    """Who may use the tenants of a server; any thread may ask."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: OrderedDict[str, tuple[float, tuple[Any, ...] | None]] = OrderedDict()

    def principal_of(self, token: str) -> Principal | None:
        """Return who shows a tenant's key or session; None for one that is unknown, revoked or has run out.

        The answer may be KNOWN_SECONDS old. Raises ForbiddenError for a key of a tenant that is not served, and
        EngineError while the server cannot be asked.
        """
        shown = _TOKEN.fullmatch(token)
        if shown is None:
            return None
        row = self._row(shown[1])
        if row is None or row[5] == LINK or not hmac.compare_digest(bytes(row[4]), _digest(shown[2])):
            return None
        tenant, name, role, scopes, _, _, peer, state, number = row
        if state != ACTIVE:
            raise not_served(state, tenant)
        return Principal(
            tenant=tenant,
            number=number,
            name=name,
            role=Role(role),
            scopes=_scopes(scopes),
            key=shown[1],
            peer=peer,
        )

    def _row(self, prefix: str) -> tuple[Any, ...] | None:
        known = self._known.get(prefix)
        if known is not None and time.monotonic() - known[0] < KNOWN_SECONDS:
            return known[1]
        asked = time.monotonic()
        with mapped(), self._server.connection() as connection:
            row = connection.execute(_HOLDS, (prefix,)).fetchone()
        self._known[prefix] = (asked, row)
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return row

    def create_key(
        self,
        tenant: Tenant,
        name: str,
        role: Role,
        *,
        by: str,
        scopes: Sequence[str] = (),
        seconds: float | None = None,
        kind: str = KEY,
        peer: str = "",
    ) -> str:
        """Make a key of a tenant and return it: this once, nobody can read it later. `seconds` is how long it is good.

        `peer` is the public key of a store that is synced by it. Raises InvalidInputError for its name, scopes or peer.
        """
        if not NAME.fullmatch(name):
            raise InvalidInputError(f"a key's name {_NAMED}", hint="name who shows it")
        bound = _checked(scopes)
        if peer and not (bound and role.reaches(Role.READER)):
            raise InvalidInputError("what is synced is of scopes, and takes a role that reads", hint="--scope NAME")
        if peer:
            self._check_peer(tenant, role, digits_of(peer))
        prefix, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        values = (prefix, tenant.id, kind, name, role.value, json.dumps(bound), _digest(secret), peer, by, seconds)
        with self._server.changing() as connection:
            connection.execute(_MAKE, values)
            detail = {"key": prefix, "name": name, "role": role.value, "scopes": bound}
            audit.note(connection, tenant.id, by, f"{kind}.create", detail)
        return f"hx_{prefix}_{secret}"

    def _check_peer(self, tenant: Tenant, role: Role, digits: str) -> None:
        """Raise ConflictError where a store has a key of another role: how far it is believed would change by turns."""
        statement = (
            "SELECT prefix, role, peer FROM api_key WHERE tenant = $1 AND peer <> '' AND role <> $2"
            " AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())"
        )
        with mapped(), self._server.connection() as connection:
            rows = connection.execute(statement, (tenant.id, role.value)).fetchall()
        for prefix, other, peer in rows:
            if digits_of(peer) == digits:
                raise ConflictError(
                    f"this store is synced by the key {prefix} already, as {other}",
                    hint=f"helix key revoke {prefix} --tenant {tenant.slug}",
                )

    def redeem(self, link: str) -> str | None:
        """Return a tenant's session for a link that nobody used and that has not run out; None for every other."""
        shown = _TOKEN.fullmatch(link)
        if shown is None:
            return None
        prefix, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        with self._server.changing() as connection:
            row = connection.execute(_USE_LINK, (shown[1], _digest(shown[2]))).fetchone()
            if row is None:
                return None
            tenant, name, role, scopes = row
            values = (
                prefix,
                tenant,
                SESSION,
                name,
                role,
                scopes,
                _digest(secret),
                "",
                f"link {shown[1]}",
                SESSION_SECONDS,
            )
            connection.execute(_MAKE, values)
            audit.note(connection, tenant, name, "session.begin", {"key": prefix, "link": shown[1]})
        return f"hx_{prefix}_{secret}"

    def keys(self, tenant: Tenant) -> list[ApiKey]:
        """Return the keys of a tenant in the order in which they were made; of sessions those that go on."""
        with mapped(), self._server.connection() as connection:
            rows = connection.execute(_KEYS, (tenant.id,)).fetchall()
        return [
            ApiKey(
                prefix=row[0],
                kind=row[1],
                name=row[2],
                role=row[3],
                scopes=_scopes(row[4]),
                made_at=row[5],
                made_by=row[6],
                expires_at=row[7],
                revoked_at=row[8],
            )
            for row in rows
        ]

    def revoke(self, tenant: Tenant | Whereabouts, prefix: str, *, by: str) -> None:
        """Have a tenant's key be good for nothing, within 5 s everywhere. Raises NotFoundError."""
        revoked = "UPDATE api_key SET revoked_at = coalesce(revoked_at, now()) WHERE tenant = $2 AND"
        with self._server.changing() as connection:
            row = connection.execute(f"{revoked} prefix = $1 RETURNING name", (prefix, tenant.id)).fetchone()
            if row is None:
                raise NotFoundError(f"{tenant.slug} has no key {prefix!r:.40}", hint="`helix key list` shows them")
            # Behind it: a link may just be opened, and the first one has waited for the session that it gives.
            connection.execute(f"{revoked} kind = '{SESSION}' AND made_by = 'link ' || $1", (prefix, tenant.id))
            audit.note(connection, tenant.id, by, "key.revoke", {"key": prefix, "name": row[0]})
        self._known.pop(prefix, None)

    def add_member(
        self,
        tenant: Tenant,
        issuer: str,
        subject: str,
        role: Role,
        *,
        by: str,
        name: str = "",
        scopes: Sequence[str] = (),
        home: bool = False,
    ) -> None:
        """Let a person use a tenant, or with another role from now on.

        `home`: whoever runs the server says so. The person is in this tenant where they name none, unless they are in
        another one already. An owner does not say so: what somebody writes would be for whoever was first to add them.
        """
        if not issuer or not subject:
            raise InvalidInputError("a person is known by an issuer and a subject", hint="both are in their token")
        if name and not NAME.fullmatch(name):
            raise InvalidInputError(f"a person's name {_NAMED}")
        bound = _checked(scopes)
        with self._server.changing() as connection:
            row = connection.execute(_ACCOUNT, (issuer, subject, tenant.id if home else None)).fetchone()
            assert row is not None  # what was put is returned
            connection.execute(_JOIN, (row[0], tenant.id, role.value, json.dumps(bound), name))
            detail = {"issuer": issuer, "subject": subject, "role": role.value, "scopes": bound}
            audit.note(connection, tenant.id, by, "user.add", detail)

    def remove_member(self, tenant: Tenant, issuer: str, subject: str, *, by: str) -> None:
        """Take away a person's access to a tenant. Raises NotFoundError."""
        with self._server.changing() as connection:
            if memberships.remove(connection, tenant.id, issuer, subject) == 0:
                raise NotFoundError(f"{tenant.slug} has no such member", hint="`helix user list` shows them")
            detail = {"issuer": issuer, "subject": subject}
            audit.note(connection, tenant.id, by, "user.remove", detail)

    def members(self, tenant: Tenant) -> list[Member]:
        """Return the people of a tenant."""
        with mapped(), self._server.connection() as connection:
            rows = connection.execute(_MEMBERS, (tenant.id,)).fetchall()
        return [Member(issuer=r[0], subject=r[1], name=r[2], role=r[3], scopes=_scopes(r[4])) for r in rows]

    def memberships(self, issuer: str, subject: str) -> Memberships:
        """Return a person in each tenant that they were added to, also in one that is not served at present.

        What was said here goes before what an issuer claims, also of a tenant that is suspended for a while.
        """
        with mapped(), self._server.connection() as connection:
            rows = connection.execute(_MEMBER, (issuer, subject)).fetchall()
        found = {
            slug: Principal(
                tenant=slug, number=number, name=called(subject, name), role=Role(role), scopes=_scopes(scopes)
            )
            for slug, number, name, role, scopes, _ in rows
        }
        return Memberships(of=found, home=next((row[0] for row in rows if row[5]), ""))

    def note(self, tenant: Tenant | None, actor: str, action: str, detail: dict[str, Any]) -> None:
        """Write down what somebody administered on the server."""
        with self._server.changing() as connection:
            audit.note(connection, None if tenant is None else tenant.id, actor, action, detail)

    def audit(self, slug: str = "", first: int = 100, *, tenant: int | None = None) -> list[AuditEntry]:
        """Return what was administered, the newest first: of one tenant, of all that had a name, or the whole server.

        What is told to a tenant's own people is asked by its number: its name may have been another one's.
        """
        statement = (
            "SELECT at, slug, actor, action, detail FROM audit WHERE ($1 = '' OR slug = $1)"
            " AND ($2::bigint IS NULL OR tenant = $2) ORDER BY id DESC LIMIT $3"
        )
        with mapped(), self._server.connection() as connection:
            rows = connection.execute(statement, (slug, tenant, first)).fetchall()
        return [AuditEntry(at=r[0], tenant=r[1], actor=r[2], action=r[3], detail=json.loads(r[4])) for r in rows]


def called(subject: str, *told: object) -> str:
    """Return what changes say of who made them: the first of what is `told`, and the subject, that may be a name.

    People may choose theirs, and whoever adds one may write any subject.
    """
    fitting = (one for one in (*told, subject) if isinstance(one, str) and NAME.fullmatch(one))
    return next(fitting, None) or f"person {hashlib.sha256(subject.encode('utf-8', 'replace')).hexdigest()[:12]}"


def _checked(scopes: Sequence[str]) -> list[str]:
    bound = list(dict.fromkeys(scopes))
    if len(bound) > _MOST_SCOPES or any(not one or "\0" in one for one in bound):
        raise InvalidInputError(f"a key is bound to at most {_MOST_SCOPES} scopes")
    if len(json.dumps(bound)) > _LONGEST_SCOPES:
        words = f"the scopes that a key is bound to have at most {_LONGEST_SCOPES:,} characters in all, as JSON"
        raise InvalidInputError(words, hint="bind it to a scope above them")
    return bound


def _scopes(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
