"""Sync api: what those exchange who share the store over HTTP, `/sync/v1`; `schema/sync/openapi.json` says how.

Everything here is asked with the token of a share, and is of that share alone: no other token or session opens it. What
arrives in a request is one part of one strand; nothing of it is believed before its signature was verified.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route

from helix import __version__, resources
from helix.api.api_errors import refusal
from helix.api.permissions import actor_of
from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.model.reports import Job
from helix.model.strand import SYNC_PATH, MemoryShare
from helix.operations import strand_keys, upkeep
from helix.service import Helix
from helix.strands import sync
from helix.strands.http_remote import PART_BYTES
from helix.strands.place import StrandName
from helix.strands.shared_place import MOST_BYTES, PREFIX, SharedPlace

_THREADS = 2


class SyncApi:
    """The routes of `/sync/v1`. They have threads of their own: large strands keep nobody else waiting."""

    def __init__(self, helix: Helix, share_of: Callable[[Request], MemoryShare]) -> None:
        """`share_of` returns the share that a request is let in by, or raises; it may block."""
        self._helix = helix
        self._share_of = share_of
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="helix-share")
        self._turns: dict[str, str] = {}

    def mount(self) -> Mount:
        """Return where all of the API for syncing is served over HTTP."""
        return Mount(
            SYNC_PATH,
            routes=[
                Route("/", self._terms),
                Route("/openapi.json", self._described),
                Route("/turns", self._turn, methods=["POST"]),
                Route("/turns/{job}", self._turned),
                Route("/strands", self._strands),
                Route("/strands/{name:path}", self._strand),
                Route("/strands/{name:path}", self._remove, methods=["DELETE"]),
                Route("/uploads/{name:path}", self._arrived, methods=["HEAD"]),
                Route("/uploads/{name:path}", self._add, methods=["PATCH"]),
            ],
        )

    async def _terms(self, request: Request) -> Response:
        share = await self._do(self._share_of, request)
        own = [key.public for key in await self._do(strand_keys.keys, self._helix) if key.own]
        if len(own) != 1:
            raise NotFoundError("this Helix has not exactly one key to sign with", hint="`helix keys new NAME` there")
        bounds = {"strandBytes": MOST_BYTES, "partBytes": PART_BYTES}
        said = {"share": share.name, "key": own[0], "scopes": list(share.scopes), "write": share.write}
        return JSONResponse({"helix": __version__, **said, **bounds})

    async def _described(self, request: Request) -> Response:
        return Response(resources.text("schema", "sync/openapi.json"), media_type="application/json")

    async def _turn(self, request: Request) -> Response:
        """Begin to exchange what lies here with the store."""
        share = await self._do(self._share_of, request)
        job = await self._do(self._begun, share, actor_of(request.scope))
        self._turns[share.name] = job.id
        return JSONResponse({"job": job.id}, status_code=202)

    def _begun(self, share: MemoryShare, actor: str) -> Job:
        with self._helix.store.writer.acting(actor):
            return sync.start(self._helix.store, self._helix.jobs, self._helix.worker, PREFIX + share.name)

    async def _turned(self, request: Request) -> Response:
        job_id = str(request.path_params["job"])
        share = await self._do(self._share_of, request)
        if self._turns.get(share.name) != job_id:
            raise NotFoundError("that is not the last turn of this share")
        job = await self._do(upkeep.job, self._helix, job_id)
        result: Mapping[str, Any] = job.result or {}
        told = {"state": job.state.value, "error": job.error or "", "problems": list(result.get("problems", ()))}
        return JSONResponse(told)

    async def _strands(self, request: Request) -> Response:
        sizes = await self._do(lambda: self._place(request).sizes())
        return JSONResponse({"strands": [{"name": str(name), "bytes": size} for name, size in sizes.items()]})

    async def _strand(self, request: Request) -> Response:
        file = await self._do(lambda: self._place(request).file(_name(request)))
        return FileResponse(file, media_type="application/octet-stream")

    async def _remove(self, request: Request) -> Response:
        await self._do(lambda: self._place(request).take_away(_name(request)))
        return Response(status_code=204)

    async def _arrived(self, request: Request) -> Response:
        held, complete = await self._do(lambda: self._place(request).arrived(_name(request)))
        return Response(status_code=204, headers=_so_far(held, complete))

    async def _add(self, request: Request) -> Response:
        offset, length = (_count(request, header) for header in ("upload-offset", "upload-length"))
        name, part = _name(request), await request.body()
        try:
            held, complete = await self._do(lambda: self._place(request).add(name, offset, length, part))
        except ConflictError as error:
            held, complete = await self._do(lambda: self._place(request).arrived(name))
            return refusal(error, 409, _so_far(held, complete))
        return Response(status_code=201 if complete else 204, headers=_so_far(held, complete))

    def _place(self, request: Request) -> SharedPlace:
        return SharedPlace(self._helix.store.path, self._share_of(request))

    async def _do(self, function: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(function, *args))

    async def close(self) -> None:
        """Let begun work of the API for syncing end, drop what waits."""
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)


def _name(request: Request) -> StrandName:
    name = StrandName.read(str(request.path_params["name"]))
    if name is None:
        raise InvalidInputError("that is not the name of a strand", hint="SIGNER/NUMBER-VERSION-SHA256.dna")
    return name


def _count(request: Request, header: str) -> int:
    told = request.headers.get(header, "")
    if not told.isdecimal() or len(told) > 15:
        raise InvalidInputError(f"the header {header} has to be a number of bytes")
    return int(told)


def _so_far(held: int, complete: bool) -> dict[str, str]:
    return {"upload-offset": str(held), "upload-complete": "?1" if complete else "?0"}
