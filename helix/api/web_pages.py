"""Pages: the explorer and GraphiQL from this machine, or one sentence on how to get them; and what a page may load."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from helix import resources
from helix.errors import NotFoundError

ASSETS = "/static/"
LEAVE = "/leave"
EXPLORER, GRAPHIQL = "explorer", "graphiql"
MISSING = (
    "The pages are not built on this machine: install Node.js 20.19 or newer, "
    "then run <code>helix stop</code> and <code>scripts/serve</code>."
)
_HASHED = re.compile(r"-[\w-]{8}\.\w+$")  # how the build names a file by its content
_STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:20vh auto;padding:0 1rem}"
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_STRICT = (
    "default-src 'none'; script-src 'self'; worker-src blob:; "
    f"style-src 'self' 'sha256-{_DIGEST}'; img-src 'self' data: blob:"
)
# GraphiQL's editor puts styles into the page, and starts its workers from files or blobs.
_LOOSE = (
    "default-src 'none'; script-src 'self'; worker-src 'self' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:"
)


def is_built(name: str) -> bool:
    """Return whether a web page (explorer, GraphiQL) is on this machine."""
    return _bundle(name, None) is not None


class Pages:
    """The built pages, each in a folder of its own below `folder`; below Helix's own where none is given."""

    def __init__(self, folder: Path | None = None) -> None:
        self._built = {name: built for name in (EXPLORER, GRAPHIQL) if (built := _bundle(name, folder))}

    def answer(self, name: str) -> HTMLResponse:
        """Return a web page, or a sentence on how to get it."""
        try:
            return HTMLResponse((self._built[name] / "index.html").read_text("utf-8"))
        except (KeyError, FileNotFoundError):  # it is not built, or is just being built anew
            return page(MISSING)

    def mounts(self) -> Iterator[Mount]:
        """Yield where the files of each web page are served."""
        for name, built in self._built.items():
            yield Mount(ASSETS + name, GZipMiddleware(_Files(directory=built)))


class _Files(StaticFiles):
    """Built files; a browser keeps those that are named by their content, and asks about the others each time."""

    def file_response(
        self, full_path: PathLike[str] | str, stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        hashed = _HASHED.search(str(full_path))
        response.headers["cache-control"] = "private, max-age=31536000, immutable" if hashed else "no-cache"
        return response


def _bundle(name: str, folder: Path | None) -> Path | None:
    try:
        built = folder / name if folder else resources.directory(name)
    except NotFoundError:
        return None
    return built if (built / "index.html").is_file() else None


def page(sentence: str, *, status: int = 200) -> HTMLResponse:
    """Return a plain web page that says one sentence (trusted HTML)."""
    html = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Helix</title>'
        f"<style>{_STYLE}</style><h1>Helix</h1><p>{sentence}</p></html>"
    )
    return HTMLResponse(html, status_code=status)


def policy(path: str, socket: str) -> str:
    """Return the content security policy of a web page at a path; `socket` is the origin of its WebSockets, if any.

    Everything comes from the daemon alone, and nothing may show it inside of another page. Not every browser counts a
    WebSocket of the same origin as 'self'.
    """
    loads = _LOOSE if path == "/graphql" or path.startswith(ASSETS + GRAPHIQL) else _STRICT
    reaches = f"connect-src 'self' {socket}".rstrip()
    forms = "'self'" if path.startswith("/open/") or path == LEAVE else "'none'"
    return f"{loads}; font-src 'self' data:; {reaches}; frame-ancestors 'none'; base-uri 'none'; form-action {forms}"
