"""Engine commands: engine init, migrate, check; tenant create, list. They speak to the server, without a daemon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from helix.cli.invocation import Invocation
from helix.cli.output import Output
from helix.errors import ConfigError

if TYPE_CHECKING:
    from helix.journal.postgres.postgres_server import Server

_address = click.argument("address", default="", metavar="[ADDRESS]")
_of = click.option(
    "--engine", "address", default="", metavar="ADDRESS", help="Address of the server; default: `engine`."
)


@click.group()
def engine() -> None:
    """Prepare and check a server of PostgreSQL that keeps journals.

    ADDRESS is like postgresql://USER@HOST/DATABASE, by default the setting `engine`. A password comes from PGPASSWORD
    or a password file.

    \b
    helix engine init postgresql://helix@db/helix
    helix engine check
    """


@engine.command("init")
@_address
@click.pass_obj
def init(invocation: Invocation, /, address: str) -> None:
    """Make the tables in a database, and a tenant `main` where there is none.

    \b
    helix engine init postgresql://helix@db/helix
    """
    with _server(invocation, address) as server:
        made = server.migrate()
        tenants = server.tenants() or [server.create("main")]
    data = {"engine": {"made": made, "tenants": [tenant.slug for tenant in tenants]}}

    def show(out: Output) -> None:
        out.line(_told(made))
        out.line(f"tenants: {', '.join(data['engine']['tenants'])}")

    invocation.emit(data, show)


@engine.command("migrate")
@_address
@click.pass_obj
def migrate(invocation: Invocation, /, address: str) -> None:
    """Bring the tables of a server up to date with this Helix; run it before the new release is started.

    \b
    helix engine migrate
    """
    with _server(invocation, address) as server:
        made = server.migrate()
    invocation.emit({"engine": {"made": made}}, lambda out: out.line(_told(made)))


@engine.command("check")
@_address
@click.pass_obj
def check(invocation: Invocation, /, address: str) -> None:
    """Check that a server has the tables of this Helix, and say what its commits are worth.

    \b
    helix engine check
    """
    with _server(invocation, address) as server:
        server.check()
        durability = server.durability()
        tenants = len(server.tenants())
    data = {"engine": {"durability": durability.value, "tenants": tenants}}

    def show(out: Output) -> None:
        out.line(f"the tables are there, for {tenants} tenant{'s' if tenants != 1 else ''}")
        out.line(f"durability: {durability.value}, {durability.said.lower()}")

    invocation.emit(data, show)


@click.command("migrate")
@click.option("--from", "source", required=True, metavar="PLACE", help="A store's folder, or a server's address.")
@click.option("--to", "target", required=True, metavar="PLACE", help="Where it is to go: the other of the two.")
@click.option("--tenant", default="main", help="Its name on the server; `main` by default.")
@click.pass_obj
def move(invocation: Invocation, /, source: str, target: str, tenant: str) -> None:
    """Carry a store from a file to a server, or back; it is served there from then on.

    Nobody may serve either meanwhile. What was cut off goes on when it is asked for again.

    \b
    helix migrate --from ~/.helix/store --to postgresql://helix@db/helix --tenant shop
    """
    from helix.store import moves

    moved = moves.carry(source, target, tenant, lambda table, rows: invocation.say(f"{table}: {rows:,} rows"))
    data = {"moved": {"rows": dict(moved.rows), "chain": moved.chain}}
    words = f"{moved.rows['log']:,} rows of the log and {moved.rows['node']:,} nodes are at {target}"
    invocation.emit(data, lambda out: out.line(words))


@click.group()
def tenant() -> None:
    """Make and list the tenants of a server: each is a store of its own.

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
    with _server(invocation, address) as server:
        made = server.create(name)
    invocation.emit({"tenant": asdict(made)}, lambda out: out.line(f"tenant {made.slug} is made"))


@tenant.command("list")
@_of
@click.pass_obj
def list_(invocation: Invocation, /, address: str) -> None:
    """List the tenants of a server.

    \b
    helix tenant list
    """
    with _server(invocation, address) as server:
        found = server.tenants()
    data: dict[str, Any] = {"tenants": [asdict(one) for one in found]}
    rows = [(one.slug, one.state, one.rows) for one in found]
    invocation.emit(data, lambda out: out.table(("tenant", "state", "rows"), rows))


def _told(made: Sequence[str]) -> str:
    return f"tables made: {', '.join(made) or 'none, all are there'}"


@contextmanager
def _server(invocation: Invocation, address: str) -> Iterator[Server]:
    from helix.store.engine import server_at

    found = address or invocation.settings.engine
    if not found:
        raise ConfigError("no server is named", hint="name its address, or set `engine` (`helix config`)")
    with closing(server_at(found)) as server:
        yield server
