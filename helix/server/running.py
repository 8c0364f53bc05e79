"""Running: brings a process up that serves many tenants, until it is told to leave, and takes it down again."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from types import FrameType
from urllib.parse import urlsplit

import uvicorn
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from helix import files
from helix.api.connection_limits import guarded, rooms_of
from helix.api.resolver_context import AppRuntime, Threads
from helix.errors import ConfigError, DaemonError
from helix.journal.postgres.home import Home
from helix.journal.postgres.postgres_server import Server
from helix.operations import upkeep
from helix.processes import NEUTRAL_FOLDER, end_loading
from helix.providers.choose import embedder_for, reranker_for
from helix.server.accounts import Accounts
from helix.server.administration import Administration
from helix.server.forwarding import Forwarder
from helix.server.front import Front, Places
from helix.server.oidc import Verifier
from helix.server.people import People
from helix.server.quotas import Quotas
from helix.server.signed_requests import Cluster
from helix.server.tenants import TENANT, Open, Tenants
from helix.settings import Settings

log = logging.getLogger(__name__)

METRICS_TOKEN = "HELIX_METRICS_TOKEN"
TIMES_AS_MANY_THREADS = 8
"""How many tenants keep all their threads busy before another one waits for a thread: until then the system shares the
processor among them."""
_GRACE_SECONDS = 20
_MOST_CONNECTIONS = 2_000
_MOST_LOOKING = 4
_ADDRESS = re.compile(r"https?://(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?/?", re.ASCII)
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where a process listens, and how others reach it.

    `url` is what clients use; `internal` what the other processes of the server use, empty: `url` of this process.
    `certificate` and `private_key` are files of PEM, and so is `authority`, by which the other processes' certificates
    are known; `behind_proxy` says that a proxy speaks TLS instead.
    """

    host: str
    port: int
    url: str = ""
    internal: str = ""
    certificate: str = ""
    private_key: str = ""
    authority: str = ""
    behind_proxy: bool = False
    drain_seconds: float = 0.0

    def check(self) -> None:
        """Raise ConfigError where keys of tenants would travel in the open, or an address leads nowhere."""
        for option, address in (("--url", self.url), ("--internal", self.internal)):
            if address and not _ADDRESS.fullmatch(address):
                raise ConfigError(
                    f"{option} {address} is not the address of a server",
                    hint=f"write {option} http://HOST:PORT or https://HOST, without a path",
                )
        if self.host not in _LOOPBACK and not (self.certificate or self.behind_proxy):
            raise ConfigError(
                f"{self.host} is not a loopback address, and keys would travel unencrypted",
                hint="give --certificate and --private-key, or say --behind-proxy where a proxy speaks TLS",
            )
        if self.host in ("0.0.0.0", "::") and not self.internal:
            raise ConfigError(
                f"{self.host} is not an address by which other processes reach this one",
                hint="say --internal http://ADDRESS-OF-THIS-MACHINE:PORT",
            )

    def tls(self) -> ssl.SSLContext | None:
        """Return what clients are spoken to by; none where a proxy does that, or nobody."""
        if not self.certificate:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.certificate, self.private_key or None)
        return context


def serve_tenants(
    settings: Settings, listening: Listening, *, most: int, idle_minutes: float, ready: Callable[[str], None]
) -> None:
    """Serve the tenants of the server that the settings name, until a signal; then close them and leave.

    `ready` is told the address once requests are answered. Raises ConfigError, StoreError for a server without tables,
    and DaemonError where the port is taken.
    """
    listening.check()
    os.umask(0o077)
    for handler in logging.getLogger().handlers:
        handler.addFilter(OfTenant())
    with ExitStack() as opened:
        server = opened.enter_context(closing(Server(settings.engine, vouched=settings.engine_vouched)))
        server.check()
        if why := server.open_between_tenants():
            log.warning("row-level security does not hold: serve as a role that owns no table", extra={"reason": why})
        listener = opened.enter_context(closing(_listen(listening)))
        places = _places(listening, listener.getsockname()[1])
        own = replace(settings, home=settings.home / f"server-{listener.getsockname()[1]}")
        files.private_folder(own.home)
        files.confine(settings.home)
        os.chdir(NEUTRAL_FOLDER)
        # Connections of its own: who asks, and where, is found also while those of the tenants are all at work.
        directory = opened.enter_context(closing(Server(settings.engine, most=_MOST_LOOKING)))
        home = opened.enter_context(closing(Home(server, places.internal, [directory])))
        front = _front(own, settings, server, directory, home, listening, places, most, idle_minutes)
        config = guarded(
            front,
            listener.getsockname()[:2],
            grace_seconds=_GRACE_SECONDS,
            most=_MOST_CONNECTIONS,
            tls=listening.tls(),
        )
        front.crowd.connections, front.crowd.websockets = rooms_of(config)
        end_loading()
        _Serving(config, front, listening.drain_seconds, lambda: ready(places.url)).run(sockets=[listener])


def _front(
    own: Settings,
    settings: Settings,
    server: Server,
    directory: Server,
    home: Home,
    listening: Listening,
    places: Places,
    most: int,
    idle_minutes: float,
) -> Front:
    choice = embedder_for(settings)
    if choice.embedder is not None:
        choice.embedder.warm()
    else:
        log.warning("recall goes by words alone", extra={"reason": choice.reason})
    secret = directory.secret()
    tenants = Tenants(
        server,
        directory,
        home,
        own,
        embedder=choice.embedder,
        reranker=reranker_for(settings),
        threads=Threads(TIMES_AS_MANY_THREADS),
        secret=secret,
        most=most,
        idle_seconds=idle_minutes * 60,
    )
    accounts = Accounts(directory)
    verifier = Verifier(settings.oidc_issuer, settings.oidc_audience) if settings.oidc_issuer else None
    return Front(
        tenants,
        People(accounts, verifier, settings.oidc_claim),
        Quotas(),
        Forwarder(*filter(None, (listening.certificate, listening.authority))),
        places=places,
        cluster=Cluster(secret),
        administration=Administration(directory, accounts, places.url, settings.oidc_claim).app(),
        metrics=lambda: metrics_of(tenants.all()),
        metrics_token=os.environ.get(METRICS_TOKEN, ""),
        lives=lambda: home.lives and directory.answers() and server.answers(),
    )


class _Serving(uvicorn.Server):
    """A server that says when it is ready, and drains before it leaves: its readiness ends first."""

    def __init__(self, config: uvicorn.Config, front: Front, drain: float, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._front = front
        self._drain = drain
        self._ready = ready
        self._leaving: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._leaving is not None:
            super().handle_exit(sig, frame)
            return
        self._front.draining = True
        log.info("draining", extra={"seconds": self._drain})
        self._leaving = asyncio.get_running_loop().create_task(self._leave())

    async def _leave(self) -> None:
        """Drain, and give the tenants away while requests still come in; then take no more."""
        await asyncio.sleep(self._drain)
        await self._front.leave()
        super().handle_exit(signal.SIGTERM, None)


class OfTenant(logging.Filter):
    """Adds to what is logged the tenant of the request, or of the work, that is under way."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let everything through."""
        if (tenant := TENANT.get()) and not hasattr(record, "tenant"):
            record.tenant = tenant
        return True


def _places(listening: Listening, port: int) -> Places:
    scheme = "https" if listening.certificate else "http"
    host = f"[{listening.host}]" if ":" in listening.host else listening.host
    here = f"{scheme}://{host}:{port}"
    return Places(url=_plain(listening.url or here), internal=_plain(listening.internal or here))


def _plain(url: str) -> str:
    """Return an address as browsers write it: without the port that its scheme has anyway."""
    parts = urlsplit(url.lower().rstrip("/"))
    usual = {"http": ":80", "https": ":443"}[parts.scheme]
    return f"{parts.scheme}://{parts.netloc.removesuffix(usual)}"


def _listen(listening: Listening) -> socket.socket:
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    try:
        listener = socket.create_server((listening.host, listening.port), family=family, backlog=512)
    except OSError as error:
        raise DaemonError(
            f"port {listening.port} of {listening.host} cannot be had: {error.strerror or error}",
            hint="another program may listen there: take another with `--listen HOST:PORT`",
        ) from error
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def metrics_of(tenants: Iterable[Open]) -> bytes:
    """Return what is counted, in Prometheus text. It looks at each tenant's files and may take a while."""
    registry = CollectorRegistry()
    registry.register(_Merged(list(tenants)))
    return generate_latest(registry)


class _Merged(Collector):
    def __init__(self, tenants: list[Open]) -> None:
        self._tenants = tenants

    def describe(self) -> Iterator[Metric]:
        return iter(())

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("helix_tenants_open", "Tenants that this process has open", value=len(self._tenants))
        merged: dict[str, Metric] = {}
        # A removed tenant is open for a moment beside the one that has its name by now.
        for one in {one.slug: one for one in sorted(self._tenants, key=lambda one: one.number)}.values():
            runtime: AppRuntime = one.app.state.runtime
            for family in runtime.meters.families(upkeep.status(one.helix)):
                into = merged.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                into.samples.extend(
                    Sample(sample.name, {**sample.labels, "tenant": one.slug}, sample.value, sample.timestamp)
                    for sample in family.samples
                )
        yield from merged.values()
