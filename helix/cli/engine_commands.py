"""Engine commands: engine init, migrate, check, index, serve, audit; migrate. They speak to the server itself."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from helix.cli.invocation import Invocation
from helix.cli.logs import start_server_log
from helix.cli.output import Output
from helix.cli.render import moment
from helix.errors import ConfigError, ConflictError, InvalidInputError
from helix.processes import begin_loading, calm_numpy

if TYPE_CHECKING:
    from helix.journal.postgres.postgres_server import Server

_LISTED = 10
_address = click.argument("address", default="", metavar="[ADDRESS]")


@click.group()
def engine() -> None:
    """Prepare and check a server of PostgreSQL that keeps journals.

    ADDRESS is like postgresql://USER@HOST/DATABASE, by default the setting `engine`. A password comes from PGPASSWORD
    or a password file.

    \b
    helix engine init postgresql://helix@db/helix
    helix engine check
    """


_role = click.option("--role", metavar="ROLE", default="", help="Role of the server that may serve from now on.")


@engine.command("init")
@_address
@_role
@click.pass_obj
def init(invocation: Invocation, /, address: str, role: str) -> None:
    """Make the tables in a database, and a tenant `main` where there is none.

    With --role, a role that owns no table may serve: row-level security holds for it.

    \b
    helix engine init postgresql://owner@db/helix --role helix
    """
    with server_of(invocation, address) as server:
        made = server.migrate()
        if role:
            server.grant(role)
        if not server.tenants():
            with suppress(ConflictError):  # another `engine init` was faster
                server.create("main")
        tenants = server.tenants()
    data = {"engine": {"made": made, "tenants": [tenant.slug for tenant in tenants]}}

    def show(out: Output) -> None:
        out.line(_tables_made(made))
        there = data["engine"]["tenants"]
        out.line(f"tenants: {', '.join(there)}" if len(there) <= _LISTED else f"{len(there):,} tenants")

    invocation.emit(data, show)


@engine.command("migrate")
@_address
@_role
@click.pass_obj
def migrate(invocation: Invocation, /, address: str, role: str) -> None:
    """Bring the tables of a server up to date with this Helix; run it before the new release is started.

    \b
    helix engine migrate
    """
    with server_of(invocation, address) as server:
        made = server.migrate()
        if role:
            server.grant(role)
    invocation.emit({"engine": {"made": made}}, lambda out: out.line(_tables_made(made)))


@engine.command("index")
@_address
@click.option("--tenant", "slug", required=True, help="A tenant of more than a million passages.")
@click.option("--drop", "drops", is_flag=True, help="Remove the index, also where pgvector is gone.")
@click.pass_obj
def index(invocation: Invocation, /, address: str, slug: str, drops: bool) -> None:
    """Make the index that a very large tenant's vectors are searched by; it takes pgvector, and a while.

    Below a million passages recall looks at all of them. Run it again after `helix reembed`. The role has to own the
    tables, and a superuser has to have created the extension where that role may not.

    \b
    helix engine index postgresql://owner@db/helix --tenant shop
    """
    with server_of(invocation, address) as server:
        count = 0 if drops else server.index_vectors(slug)
        said = f"{count:,} vectors of {slug} are in the index"
        if drops:
            said = f"the index of {slug} is gone" if server.drop_index(slug) else f"{slug} has no index"
    invocation.emit({"engine": {"vectors": count}}, lambda out: out.line(said))


@engine.command("check")
@_address
@click.pass_obj
def check(invocation: Invocation, /, address: str) -> None:
    """Check that a server has the tables of this Helix, and say what its commits are worth.

    \b
    helix engine check
    """
    with server_of(invocation, address) as server:
        from helix.journal.postgres import audit

        server.check()
        durability = server.durability()
        tenants, unwalled, changers = len(server.tenants()), server.open_between_tenants(), audit.changers(server)
    found = {
        "durability": durability.value,
        "tenants": tenants,
        "rowLevelSecurity": not unwalled,
        "auditChangedBy": changers,
    }
    data = {"engine": found}

    def show(out: Output) -> None:
        out.line(f"the tables are there, for {tenants} tenant{'s' if tenants != 1 else ''}")
        out.line(f"durability: {durability.value}, {durability.said.lower()}")
        out.line(f"row-level security: {unwalled or 'it holds'}")
        for role in changers:
            mends = f"`helix engine migrate ADDRESS --role {role}`, as the role that owns the tables"
            out.line(f"audit: {role} may change and remove what it says, as an older Helix let it; take that: {mends}")

    invocation.emit(data, show)


@engine.command("serve")
@_address
@click.option("--listen", metavar="HOST:PORT", default="127.0.0.1:8765", help="Where to listen; port 0 for any.")
@click.option("--url", default="", help="Address by which clients reach the server; default: where it listens.")
@click.option("--internal", default="", metavar="URL", help="Address by which its other processes reach this one.")
@click.option("--certificate", default="", metavar="FILE", help="Certificate chain (PEM) for TLS.")
@click.option("--private-key", default="", metavar="FILE", help="Private key (PEM) of the certificate.")
@click.option("--ca", "authority", default="", metavar="FILE", help="Certificates (PEM) that the others' are of.")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front speaks TLS.")
@click.option("--open-tenants", "most", type=click.IntRange(min=1), default=1_000, help="Tenants open at once.")
@click.option(
    "--idle", type=click.FloatRange(min=0.01), default=10.0, metavar="MINUTES", help="Close unused ones after."
)
@click.option("--drain", type=click.FloatRange(min=0), default=0.0, metavar="SECONDS", help="Unready before it leaves.")
@click.pass_obj
def serve(
    invocation: Invocation,
    /,
    address: str,
    listen: str,
    url: str,
    internal: str,
    certificate: str,
    private_key: str,
    authority: str,
    behind_proxy: bool,
    most: int,
    idle: float,
    drain: float,
) -> None:
    """Serve all tenants of a server to whoever shows a key, until Ctrl-C; several processes may.

    \b
    helix engine serve postgresql://helix@db/helix
    helix engine serve --listen 0.0.0.0:8443 --url https://helix.example --behind-proxy
    """
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdecimal():
        raise ConfigError(f"--listen is HOST:PORT, not {listen!r:.100}", hint="for one: 0.0.0.0:8443")
    if address:
        invocation.flags.update(engine=address)
    settings = invocation.settings
    if not settings.engine:
        raise ConfigError("no server is named", hint="name its address, or set `engine` (`helix config`)")
    calm_numpy()
    begin_loading()
    from helix.server.running import Listening, serve_tenants  # seconds to load, and only for this
    from helix.text.secrets.redact import redact

    listening = Listening(
        host=host.strip("[]"),
        port=int(port),
        url=url,
        internal=internal,
        certificate=certificate,
        private_key=private_key,
        authority=authority,
        behind_proxy=behind_proxy,
        drain_seconds=drain,
    )
    start_server_log(settings.log_level, lambda text: redact(text).text)

    def ready(at: str) -> None:
        invocation.emit({"serving": {"url": at}}, lambda out: out.line(f"serving the tenants at {at}"))
        sys.stdout.flush()

    serve_tenants(settings, listening, most=most, idle_minutes=idle, ready=ready)


@engine.command("audit")
@_address
@click.option("--tenant", "slug", default="", help="Of one tenant alone.")
@click.option("-n", "--limit", type=click.IntRange(1, 10_000), default=100, help="At most so many, the newest first.")
@click.pass_obj
def audit(invocation: Invocation, /, address: str, slug: str, limit: int) -> None:
    """Show what was administered: keys, people and tenants, and by whom.

    \b
    helix engine audit --tenant shop
    """
    from helix.server.accounts import Accounts

    with server_of(invocation, address) as server:
        found = Accounts(server).audit(slug, limit)
    data: dict[str, Any] = {"audit": [{**asdict(one), "at": one.at.isoformat()} for one in found]}
    rows = [(moment(one.at.isoformat()), one.tenant, one.actor, one.action, json.dumps(one.detail)) for one in found]
    invocation.emit(data, lambda out: out.table(("when", "tenant", "who", "what", "detail"), rows))


@click.command("migrate")
@click.option("--from", "source", default="", metavar="PLACE", help="A store's folder, or a server's address.")
@click.option("--to", "target", required=True, metavar="PLACE", help="Where it is to go: the other of the two.")
@click.option("--tenant", default="main", help="Its name on the server; `main` by default.")
@click.option("--source-gone", is_flag=True, help="Instead of --from: end a move that was cut off, all of it arrived.")
@click.option("--yes", is_flag=True, help="With --source-gone: a server of the source that does not answer is gone.")
@click.pass_obj
def move(invocation: Invocation, /, source: str, target: str, tenant: str, source_gone: bool, yes: bool) -> None:
    """Carry a store from a file to a server, or back; it is served there from then on.

    Nobody may serve either meanwhile. What was cut off goes on when it is asked for again.

    \b
    helix migrate --from ~/.helix/store --to postgresql://helix@db/helix --tenant shop
    """
    from helix.store import moves

    if bool(source) == source_gone:
        raise InvalidInputError("say where the store is, or that it is gone", hint="--from, or --source-gone")
    data: dict[str, Any]
    if source_gone:
        suspended = moves.end(target, tenant, operator(), unseen=yes)
        data, words = {"ended": target}, f"the store is at {target}"
    else:
        moved = moves.carry(source, target, tenant, _carried(invocation), operator())
        suspended = moved.suspended
        data = {"moved": {"rows": dict(moved.rows), "chain": moved.chain}}
        words = f"{moved.rows['log']:,} rows of the log and {moved.rows['node']:,} nodes are at {target}"
    invocation.emit(data, lambda out: out.line(words))
    if suspended:
        invocation.say(f"it is suspended, as it was when it left: `helix tenant resume {tenant}`")


def _carried(invocation: Invocation) -> Callable[[str, int], None]:
    return lambda table, rows: invocation.say(f"{table}: {rows:,} rows")


def operator() -> str:
    """Return the operator who runs the command, for the audit."""
    return f"operator {getpass.getuser()}"


def _tables_made(made: Sequence[str]) -> str:
    return f"tables made: {', '.join(made) or 'none, all are there'}"


@contextmanager
def server_of(invocation: Invocation, address: str) -> Iterator[Server]:
    """Lend a command the server at an address, or the one that the settings name."""
    from helix.journal.postgres.at_address import server_at

    found = address or invocation.settings.engine
    if not found:
        raise ConfigError("no server is named", hint="name its address, or set `engine` (`helix config`)")
    with closing(server_at(found)) as server:
        yield server
