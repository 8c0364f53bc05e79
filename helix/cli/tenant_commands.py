"""Tenant commands: the tenants, keys and people of a server. They speak to the server itself, as whoever runs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from helix.cli.engine_commands import operator, server_of
from helix.cli.invocation import Invocation
from helix.cli.render import moment
from helix.errors import InvalidInputError
from helix.journal.postgres.tenant_states import way_out_of
from helix.model.principal import Role

if TYPE_CHECKING:
    from helix.journal.postgres.postgres_server import Server, Tenant
    from helix.server.accounts import Accounts

ROLES = tuple(role.value for role in Role)
_of = click.option(
    "--engine", "address", default="", metavar="ADDRESS", help="Address of the server; default: `engine`."
)
_tenant = click.option("--tenant", "slug", default="", metavar="NAME", help="Which tenant; default: `tenant`.")
_scopes = click.option("--scope", "scopes", multiple=True, help="Bind it to a scope; may be given again.")
_DAY = 86_400.0


@click.group()
def tenant() -> None:
    """Make, list, suspend and delete the tenants of a server: each is a store of its own.

    \b
    helix tenant create shop
    helix tenant list
    """


@tenant.command("create")
@click.argument("name")
@_of
@click.pass_obj
def create(invocation: Invocation, /, name: str, address: str) -> None:
    """Make an empty tenant.

    \b
    helix tenant create shop
    """
    with _accounts(invocation, address) as (server, accounts):
        made = server.create(name)
        accounts.note(made, operator(), "tenant.create", {})
    invocation.emit({"tenant": asdict(made)}, lambda out: out.line(f"tenant {made.slug} is made"))


@tenant.command("list")
@_of
@click.pass_obj
def list_(invocation: Invocation, /, address: str) -> None:
    """List the tenants of a server.

    \b
    helix tenant list
    """
    with server_of(invocation, address) as server:
        found = server.tenants()
    data: dict[str, Any] = {"tenants": [asdict(one) for one in found]}
    rows = [(one.slug, one.state, one.rows) for one in found]
    invocation.emit(data, lambda out: out.table(("tenant", "state", "rows"), rows))


@tenant.command("suspend")
@click.argument("name")
@_of
@click.pass_obj
def suspend(invocation: Invocation, /, name: str, address: str) -> None:
    """Stop serving a tenant, until `resume`; nothing is lost.

    \b
    helix tenant suspend shop
    """
    _set_state(invocation, address, name, "active", "suspended")


@tenant.command("resume")
@click.argument("name")
@_of
@click.pass_obj
def resume(invocation: Invocation, /, name: str, address: str) -> None:
    """Serve a tenant again that was suspended.

    \b
    helix tenant resume shop
    """
    _set_state(invocation, address, name, "suspended", "active")


@tenant.command("delete")
@click.argument("name")
@click.option("--confirm", metavar="NAME", default="", help="The tenant's name once more.")
@_of
@click.pass_obj
def delete(invocation: Invocation, /, name: str, confirm: str, address: str) -> None:
    """Remove a tenant with all that it holds, for good; it has to be suspended before, or never have arrived.

    \b
    helix tenant delete shop --confirm shop
    """
    if confirm != name:
        raise InvalidInputError(f"this removes all that {name} holds, for good", hint=f"--confirm {name}")
    with _accounts(invocation, address) as (server, accounts):
        found = server.tenant(name)
        if found.state == "active":
            raise InvalidInputError(f"{name} is {found.state}", hint=f"helix tenant suspend {name}")
        server.check_deletable(found.id)
        accounts.note(found, operator(), "tenant.delete", {"name": name, "rows": found.rows})
        server.delete(found.id)
    words = f"tenant {name} is gone; the server's archives and backups hold it as long as they are kept"
    invocation.emit({"deleted": name}, lambda out: out.line(words))


@tenant.command("quota")
@click.argument("name")
@click.option("--memories", type=click.IntRange(min=0), help="Memories that it may keep.")
@click.option("--bytes", "size", type=click.IntRange(min=0), help="Bytes of its log.")
@click.option("--requests", type=click.IntRange(min=0), help="Requests a minute, at each process.")
@click.option("--tokens", type=click.IntRange(min=0), help="Tokens a month of language models that are paid for.")
@click.option("--unlimited", is_flag=True, help="Limit nothing but what is said beside this.")
@_of
@click.pass_obj
def quota(
    invocation: Invocation,
    /,
    name: str,
    memories: int | None,
    size: int | None,
    requests: int | None,
    tokens: int | None,
    unlimited: bool,
    address: str,
) -> None:
    """Show how much a tenant may use, or change what is said; the tokens when it is opened next.

    \b
    helix tenant quota shop
    helix tenant quota shop --memories 100000 --requests 600
    """
    import json

    from helix.server.quotas import parsed

    options = {"memories": memories, "bytes": size, "requests": requests, "tokens": tokens}
    said = {what: most for what, most in options.items() if most is not None}
    with _accounts(invocation, address) as (server, accounts):
        found = server.tenant(name)
        there = server.whereabouts(name)
        kept = {**(parsed(there.quota) if there is not None and not unlimited else {}), **said}
        if said or unlimited:
            server.set_quota(found.id, json.dumps(kept))
            accounts.note(found, operator(), "tenant.quota", kept)
    words = ", ".join(f"{what} {most:,}" for what, most in kept.items()) or "nothing is limited"
    invocation.emit({"quota": kept}, lambda out: out.line(f"{name}: {words}"))


@click.group()
def key() -> None:
    """Make, list and revoke the keys that agents and programs show a server.

    \b
    helix key create claude --role agent --tenant shop
    helix key list --tenant shop
    """


@key.command("create")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), required=True, help="What it may do.")
@_scopes
@click.option("--peer", default="", metavar="KEY", help="Public key of a store that is synced by it (`helix keys`).")
@click.option("--days", type=click.FloatRange(min=0, min_open=True), help="Days that it is good for; default: always.")
@_tenant
@_of
@click.pass_obj
def create_key(
    invocation: Invocation,
    /,
    name: str,
    role: str,
    scopes: tuple[str, ...],
    peer: str,
    days: float | None,
    slug: str,
    address: str,
) -> None:
    """Make a key and show it, this once.

    \b
    helix key create claude --role agent --tenant shop
    helix key create laptop --role editor --scope acme/api --peer helix-key1:...
    """
    seconds = None if days is None else days * _DAY
    made = _made(invocation, address, slug, name, role, scopes, seconds, "key", peer)
    invocation.emit({"key": made}, lambda out: out.line(made))
    if not invocation.json:
        invocation.say("keep it now: it is shown this once")


@key.command("link")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES[:-1]), default="editor", help="What the person may do.")
@click.option("--url", required=True, help="Address by which clients reach the server.")
@_scopes
@_tenant
@_of
@click.pass_obj
def link(
    invocation: Invocation, /, name: str, role: str, url: str, scopes: tuple[str, ...], slug: str, address: str
) -> None:
    """Make a link that lets a person's browser in, once, within ten minutes.

    \b
    helix key link ada --role editor --url https://helix.example --tenant shop
    """
    from helix.server.accounts import LINK, LINK_SECONDS

    made = _made(invocation, address, slug, name, role, scopes, LINK_SECONDS, LINK)
    whole = f"{url.rstrip('/')}/open/{made}"
    invocation.emit({"link": whole}, lambda out: out.line(whole))


@key.command("list")
@_tenant
@_of
@click.pass_obj
def keys(invocation: Invocation, /, slug: str, address: str) -> None:
    """List the keys of a tenant, the revoked too.

    \b
    helix key list --tenant shop
    """
    with _accounts(invocation, address) as (server, accounts):
        found = accounts.keys(_of_tenant(invocation, server, slug))
    data: dict[str, Any] = {"keys": [_plain(asdict(one)) for one in found]}
    rows = [
        (
            one.prefix,
            one.kind,
            one.name,
            one.role,
            ", ".join(one.scopes),
            moment(one.made_at.isoformat()),
            "revoked" if one.revoked_at else moment(one.expires_at.isoformat()) if one.expires_at else "",
        )
        for one in found
    ]
    invocation.emit(data, lambda out: out.table(("key", "kind", "name", "role", "scopes", "made", "until"), rows))


@key.command("revoke")
@click.argument("prefix")
@_tenant
@_of
@click.pass_obj
def revoke(invocation: Invocation, /, prefix: str, slug: str, address: str) -> None:
    """Have a key be good for nothing, within 5 seconds; PREFIX is how `list` shows it.

    \b
    helix key revoke 5f2c09d1ab34 --tenant shop
    """
    with _accounts(invocation, address) as (server, accounts):
        accounts.revoke(_of_tenant(invocation, server, slug), prefix, by=operator())
    invocation.emit({"revoked": prefix}, lambda out: out.line(f"{prefix} is revoked"))


@click.group()
def user() -> None:
    """Let people in whom an issuer of OpenID Connect knows (the settings `oidc_issuer` and `oidc_audience`).

    \b
    helix user add SUBJECT --role editor --tenant shop
    helix user list --tenant shop
    """


_issuer = click.option("--issuer", default="", help="Their issuer; default: `oidc_issuer`.")


@user.command("add")
@click.argument("subject")
@click.option("--role", type=click.Choice(ROLES[:-1]), required=True, help="What they may do.")
@click.option("--name", default="", help="What they are called.")
@_issuer
@_scopes
@_tenant
@_of
@click.pass_obj
def add_user(
    invocation: Invocation,
    /,
    subject: str,
    role: str,
    name: str,
    issuer: str,
    scopes: tuple[str, ...],
    slug: str,
    address: str,
) -> None:
    """Let a person use a tenant, or with another role; SUBJECT is `sub` of their tokens.

    \b
    helix user add 248289761001 --role editor --name Ada --tenant shop
    """
    with _accounts(invocation, address) as (server, accounts):
        of = _of_tenant(invocation, server, slug)
        accounts.add_member(
            of, _issuer_of(invocation, issuer), subject, Role(role), by=operator(), name=name, scopes=scopes, home=True
        )
    invocation.emit({"added": subject}, lambda out: out.line(f"{name or subject} may use {of.slug} as {role}"))


@user.command("remove")
@click.argument("subject")
@_issuer
@_tenant
@_of
@click.pass_obj
def remove_user(invocation: Invocation, /, subject: str, issuer: str, slug: str, address: str) -> None:
    """Take away a person's access to a tenant.

    \b
    helix user remove 248289761001 --tenant shop
    """
    from helix.server.people import lets_in_still

    with _accounts(invocation, address) as (server, accounts):
        of = _of_tenant(invocation, server, slug)
        accounts.remove_member(of, _issuer_of(invocation, issuer), subject, by=operator())
    invocation.emit({"removed": subject}, lambda out: out.line(f"{subject} is no member of {of.slug} any more"))
    if left := lets_in_still(invocation.settings.oidc_claim):
        invocation.say(f"warning: {left}")


@user.command("list")
@_tenant
@_of
@click.pass_obj
def users(invocation: Invocation, /, slug: str, address: str) -> None:
    """List the people of a tenant.

    \b
    helix user list --tenant shop
    """
    with _accounts(invocation, address) as (server, accounts):
        found = accounts.members(_of_tenant(invocation, server, slug))
    data: dict[str, Any] = {"users": [asdict(one) for one in found]}
    rows = [(one.name, one.subject, one.issuer, one.role, ", ".join(one.scopes)) for one in found]
    invocation.emit(data, lambda out: out.table(("name", "subject", "issuer", "role", "scopes"), rows))


def _set_state(invocation: Invocation, address: str, name: str, before: str, after: str) -> None:
    with _accounts(invocation, address) as (server, accounts):
        found = server.tenant(name)
        if found.state not in (before, after):
            hint = f"this is for one that is {before}; {way_out_of(found.state, name)}"
            raise InvalidInputError(f"{name} is {found.state}", hint=hint)
        server.set_state(found.id, after)
        accounts.note(found, operator(), f"tenant.{after}", {})
    invocation.emit({"tenant": {"slug": name, "state": after}}, lambda out: out.line(f"{name} is {after}"))


def _made(
    invocation: Invocation,
    address: str,
    slug: str,
    name: str,
    role: str,
    scopes: tuple[str, ...],
    seconds: float | None,
    kind: str,
    peer: str = "",
) -> str:
    with _accounts(invocation, address) as (server, accounts):
        of = _of_tenant(invocation, server, slug)
        return accounts.create_key(
            of, name, Role(role), by=operator(), scopes=scopes, seconds=seconds, kind=kind, peer=peer
        )


def _of_tenant(invocation: Invocation, server: Server, slug: str) -> Tenant:
    return server.tenant(slug or invocation.settings.tenant)


def _issuer_of(invocation: Invocation, issuer: str) -> str:
    found = issuer or invocation.settings.oidc_issuer
    if not found:
        hint = "give --issuer URL (`iss` of their tokens), or set `oidc_issuer`, as the server does"
        raise InvalidInputError("a person is known by an issuer and a subject, and no issuer is named", hint=hint)
    return found


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in values.items()}


@contextmanager
def _accounts(invocation: Invocation, address: str) -> Iterator[tuple[Server, Accounts]]:
    with server_of(invocation, address) as server:
        from helix.server.accounts import Accounts

        server.check()
        yield server, Accounts(server)
