"""Tenants: the stores that this process is home to, each open while it is used.

They share the models, the connections to the server and the threads that requests block. What a tenant keeps on disk
is a cache: the folder of a tenant may be removed while it is closed. A tenant is known by its number: the name of one
that was removed may be another one's at once.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from starlette.applications import Starlette

from helix.api.app import create_tenant_app
from helix.api.resolver_context import Threads
from helix.errors import HelixError, NotFoundError, NotHomeError
from helix.files import private_folder, read_text, write_private
from helix.journal.mark import MarkFile
from helix.journal.postgres.home import Home
from helix.journal.postgres.postgres_server import Server, Whereabouts
from helix.journal.postgres.tenant_database import TenantDatabase
from helix.journal.postgres.tenant_states import ACTIVE, name_is_anothers, not_served
from helix.journal.witnesses import KNOWS_MORE, is_loss_noted
from helix.model.clock import system_clock, to_micros
from helix.model.reports import JobState
from helix.providers.embedder import Embedder
from helix.providers.reranker import Reranker
from helix.recall.pipeline import Turns
from helix.server.quotas import TenantRoom, parsed
from helix.server.tenant_sync import seed_of, share_of
from helix.service import Helix
from helix.settings import Settings
from helix.store.engine import Engine, open_tenant_engine

log = logging.getLogger(__name__)

TENANT: ContextVar[str] = ContextVar("helix_tenant", default="")
"""The tenant of the request or the work under way, for the log."""
_KNOWN_SECONDS = 1.0
_LOOK_SECONDS = 1.0
_WORK_EVERY = 10.0
_WOKEN_AT_ONCE = 5
_MOST_KNOWN = 20_000
_OPENED_AT_ONCE = 8
_LOOKED_AT_ONCE = 4
_ANSWERED_SECONDS = 5.0
_SERVED = "served"
"""File beside a tenant's caches that says of which home they are."""


@dataclass(slots=True, kw_only=True)
class Open:
    """One tenant that is served here; `used` is when it was asked last (monotonic), `asking` how many do now."""

    number: int
    slug: str
    helix: Helix
    app: Starlette
    running: AsyncExitStack
    used: float = field(default_factory=time.monotonic)
    asking: int = 0

    @property
    def idle(self) -> bool:
        """Whether nobody asks a tenant and nothing is being done."""
        return not self.asking and not (self.helix.jobs.are_running() or self.helix.worker.at_work)

    async def answered(self) -> None:
        """Wait until what a tenant was asked before is answered, but not for long."""
        until = time.monotonic() + _ANSWERED_SECONDS
        while self.asking and time.monotonic() < until:
            await asyncio.sleep(0.02)


class Tenants:
    """Opens a tenant when it is first asked for, and closes it when it is not used, taken, or one too many."""

    def __init__(
        self,
        server: Server,
        directory: Server,
        home: Home,
        settings: Settings,
        *,
        embedder: Embedder | None,
        reranker: Reranker,
        threads: Threads,
        secret: str,
        most: int = 1_000,
        idle_seconds: float = 600.0,
    ) -> None:
        """Serve tenants of `server`, as `home`; `directory` is asked where they are, `settings` are those of all.

        About `most` stay open, those that were used last, each until nobody asked for it for `idle_seconds`.
        """
        self._server = server
        self._directory = directory
        self._home = home
        self._settings = settings
        self._embedder = embedder
        self._reranker = reranker
        self._threads = threads
        self._turns_of_recall = Turns()
        self._secret = secret
        self._most = most
        self._idle_seconds = idle_seconds
        self._caches = settings.home / "tenants"
        self._marks = settings.home / "marks"
        """How far each tenant had come at this process: told of a loss by, also where another one served it since."""
        self._open: dict[int, Open] = {}
        self._under_way: dict[int, asyncio.Task[Open]] = {}
        self._turns: dict[int, asyncio.Lock] = {}
        self._known: dict[str, tuple[float, Whereabouts]] = {}
        self._opening = ThreadPoolExecutor(_OPENED_AT_ONCE, thread_name_prefix="helix-open")
        """Apart from the others: who becomes home after one that was killed waits for seconds."""
        self._looking = ThreadPoolExecutor(_LOOKED_AT_ONCE, thread_name_prefix="helix-look")
        self._keeper: asyncio.Task[None] | None = None
        self.draining = False

    def start(self) -> None:
        """Begin to look after what is open, and for work of tenants that nobody serves."""
        self._keeper = asyncio.create_task(self._keep())

    def all(self) -> list[Open]:
        """Return the tenants that are open here."""
        return list(self._open.values())

    async def where(self, slug: str, number: int = 0) -> Whereabouts:
        """Return where a tenant is served; the answer may be a second old where its number is known.

        Raises NotFoundError, ForbiddenError for a tenant that is not active, and UnauthorizedError where another one
        than that with the `number` has the name by now.
        """
        known = self._known.get(slug)
        if known is None or time.monotonic() - known[0] > _KNOWN_SECONDS or number != known[1].id:
            asked = time.monotonic()
            found = await asyncio.get_running_loop().run_in_executor(self._looking, self._directory.whereabouts, slug)
            if found is None:
                raise NotFoundError(f"there is no tenant {slug!r:.100}")
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            known = self._known[slug] = asked, found
        if number not in (0, known[1].id):
            raise name_is_anothers(slug)
        if known[1].state != ACTIVE:
            raise not_served(known[1].state, slug)
        return known[1]

    def forget(self, slug: str) -> None:
        """Look for a tenant's home anew when it is asked for next."""
        self._known.pop(slug, None)

    def is_elsewhere(self, there: Whereabouts) -> bool:
        """Return whether another process, which lives, is home to a tenant."""
        own = there.home in (None, self._home.id) or there.url == self._home.url
        return there.id not in self._open and there.lives and not own

    def here(self, number: int) -> Open | None:
        """Return a tenant that is open here and this process's own."""
        found = self._open.get(number)
        return None if found is None or found.helix.store.journal.database.fenced else found

    async def opened(self, there: Whereabouts) -> Open:
        """Return a tenant, opened if need be. Raises StoreLockedError where another process is its home.

        Who asks may leave meanwhile: the opening goes on, as nobody else could close what it opens.
        """
        opening = self._under_way.get(there.id)
        if opening is None:
            context = Context()  # what is opened works for itself, and not for who asks first
            context.run(TENANT.set, there.slug)
            opening = asyncio.create_task(self._opened(there.slug, there.id), context=context)
            self._under_way[there.id] = opening
            opening.add_done_callback(lambda _: self._under_way.pop(there.id))
        return await asyncio.shield(opening)

    async def _opened(self, slug: str, number: int) -> Open:
        turn = self._turns.setdefault(number, asyncio.Lock())
        async with turn:
            if (found := self.here(number)) is not None:
                return found
            if number in self._open:
                await self._close(self._open[number], "another process may serve it by now")
            self._known.pop(slug, None)
            there = await self.where(slug, number)
            if self.draining:
                raise NotHomeError("this process is about to end", hint="ask again: another one answers")
            running = AsyncExitStack()
            helix = await asyncio.get_running_loop().run_in_executor(
                self._opening, copy_context().run, self._made, there
            )
            share = partial(share_of, helix, seed_of(self._secret, there.id))
            app = create_tenant_app(helix, self._threads, TenantRoom(helix, partial(self._quota, there)).full, share)
            await running.enter_async_context(app.router.lifespan_context(app))
            made = self._open[number] = Open(number=number, slug=slug, helix=helix, app=app, running=running)
            log.info("tenant opened", extra={"tenant": slug})
        return made

    def _quota(self, there: Whereabouts) -> dict[str, int]:
        """Return what a tenant may keep, as it was found last: each request looks."""
        _, known = self._known.get(there.slug, (0.0, there))
        return parsed((known if known.id == there.id else there).quota)

    def _made(self, there: Whereabouts) -> Helix:
        budget = self._settings.monthly_token_budget
        caches = self._caches / str(there.id)
        if _noted(caches) != self._note(there.id, there.epoch):
            self._remove(caches, there.id)
        own = replace(
            self._settings,
            home=caches,
            db_path=None,
            tenant=there.slug,
            one_of_many=True,
            monthly_token_budget=min(budget, parsed(there.quota).get("tokens", budget)),
        )

        def opens(folder: Path) -> Engine:
            closing = partial(self._home.release, there.id)
            found = open_tenant_engine(self._server, self._home, there.id, own, folder, closing)
            current = found.before == there.epoch  # else somebody served it while this process waited for it
            write_private(caches / _SERVED, self._note(there.id, found.epoch) if current else "")
            return replace(found, mark=MarkFile(private_folder(self._marks) / str(there.id)))

        return Helix.open(
            own, embedder=self._embedder, reranker=self._reranker, engine=opens, turns=self._turns_of_recall
        )

    def _note(self, number: int, epoch: int) -> str:
        """Return what is noted beside caches: where which tenant is kept, and of which home they are."""
        return f"{self._settings.engine} {number} {epoch}"

    async def _drop_caches(self) -> None:
        """Remove what is kept of tenants that are gone, or that another process has served since.

        What that one erased for good would stay here otherwise.
        """
        left = await asyncio.to_thread(self._outdated)
        for caches in left:
            number = _number_of(caches)
            async with self._turns.setdefault(number, asyncio.Lock()):
                if number not in self._open:
                    await asyncio.to_thread(self._remove, caches, number)

    def _remove(self, caches: Path, number: int) -> None:
        """Remove what is kept of a tenant, but for what may be recovered of a loss that nobody has acknowledged."""
        kept = any(caches.rglob(f"*{KNOWS_MORE}*"))
        if kept and is_loss_noted(TenantDatabase(self._directory, number, None, Path())):
            for file in caches.rglob("*"):
                if KNOWS_MORE not in file.name and (file.is_symlink() or not file.is_dir()):
                    file.unlink(missing_ok=True)
        else:
            shutil.rmtree(caches, ignore_errors=True)

    def _outdated(self) -> list[Path]:
        closed = {one: number for one in self._caches.glob("*") if (number := _number_of(one)) not in self._open}
        marks = {one: _number_of(one) for one in self._marks.glob("*")}
        epochs = self._directory.epochs([*closed.values(), *marks.values()])
        for one in [one for one, number in marks.items() if number not in epochs]:
            one.unlink(missing_ok=True)
        return [
            one
            for one, number in closed.items()
            if number not in epochs or _noted(one) != self._note(number, epochs[number])
        ]

    async def _close_in_turn(self, one: Open, why: str, *, unused: bool = False) -> None:
        """Close a tenant if it is still open; with `unused`, if still nobody asks."""
        async with self._turns.setdefault(one.number, asyncio.Lock()):
            if self._open.get(one.number) is one and (one.idle or not unused):
                await self._close(one, why)

    async def _close(self, one: Open, why: str) -> None:
        """Close a tenant; its turn is held. Whoever asks meanwhile waits."""
        before = TENANT.set(one.slug)
        log.info("tenant closed", extra={"tenant": one.slug, "why": why})
        del self._open[one.number]
        self._known.pop(one.slug, None)
        try:
            await one.running.aclose()
            await asyncio.to_thread(one.helix.store.graph.leave)
            await one.answered()
        except Exception:
            log.exception("a tenant's clients were not let go", extra={"tenant": one.slug})
        try:
            await asyncio.to_thread(one.helix.close)
        except Exception as error:  # such as a server that is out of reach: nothing acknowledged is in memory alone
            log.warning("a tenant was not closed cleanly", extra={"tenant": one.slug, "error": str(error)})
        finally:
            TENANT.reset(before)

    async def _keep(self) -> None:
        looked = time.monotonic()
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                now = time.monotonic()
                fenced = [one for one in self.all() if one.helix.store.journal.database.fenced]
                await asyncio.gather(
                    *(self._close_in_turn(one, "another process may serve it by now") for one in fenced)
                )
                await self._close_unfinished()
                for one in self.all():
                    if one.idle and now - one.used > self._idle_seconds:
                        await self._close_in_turn(one, "nobody asked for it", unused=True)
                unused = sorted((one for one in self.all() if one.idle), key=lambda one: one.used)
                for one in unused[: max(len(self._open) - self._most, 0)]:
                    await self._close_in_turn(one, "others are asked for", unused=True)
                if now - looked > _WORK_EVERY:
                    looked = now
                    await self._wake()
                    await self._drop_caches()
            except Exception:  # the task's outermost boundary: without it, no tenant would be closed any more
                log.exception("tenants were not looked after")

    async def _close_unfinished(self) -> None:
        """Close a tenant in which a job failed before it was whole: it is opened again soon, which ends that."""
        for one in self.all():
            if any(job.state is JobState.FAILED for job in one.helix.jobs.all()):
                with suppress(HelixError):  # the server is out of reach
                    if await asyncio.to_thread(one.helix.left_unfinished):
                        await self._close_in_turn(one, "what failed in it is to be ended")

    async def _wake(self) -> None:
        """Open some of the tenants that have work due, or what was cut short, and that nobody serves."""
        room = min(_WOKEN_AT_ONCE, self._most - len(self._open))
        if self.draining or room <= 0:
            return
        for slug in await asyncio.to_thread(self._directory.with_work, to_micros(system_clock()), room):
            if not any(one.slug == slug for one in self.all()):
                try:
                    await self.opened(await self.where(slug))
                except HelixError as error:  # the next one may be opened
                    log.warning("a tenant with work was not opened", extra={"tenant": slug, "error": str(error)})

    async def close(self) -> None:
        """Close all of them; each is free for another process at once. Twice is no error."""
        self.draining = True
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        await asyncio.gather(*(self._close_in_turn(one, "the process ends") for one in self.all()))
        self._opening.shutdown(wait=False, cancel_futures=True)
        self._turns_of_recall.close()


def _number_of(caches: Path) -> int:
    """Return the number of the tenant that a folder or a mark is of; 0 for one that an older Helix named otherwise."""
    return int(caches.name) if re.fullmatch("[1-9][0-9]{0,17}", caches.name) else 0


def _noted(caches: Path) -> str:
    try:
        return read_text(caches / _SERVED)
    except (OSError, UnicodeDecodeError):
        return ""
