"""The explorer: GraphiQL from this machine, or one sentence on how to get it."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import HTMLResponse

from helix import resources
from helix.errors import NotFoundError

ASSETS = "/static/graphiql"
MISSING = (
    "The explorer is not built on this machine: install Node.js 20.19 or newer, "
    "then run <code>helix stop</code> and <code>scripts/serve</code>."
)


def bundle(folder: Path | None = None) -> Path | None:
    """Return the folder of the built explorer (Helix's own, where none is given), or None where it was not built."""
    try:
        built = folder or resources.directory("graphiql")
    except NotFoundError:
        return None
    return built if (built / "index.html").is_file() else None


def page(sentence: str, *, status: int = 200) -> HTMLResponse:
    """Return a plain page that says one sentence (trusted HTML)."""
    html = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Helix</title>'
        "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:20vh auto;padding:0 1rem}</style>"
        f"<h1>Helix</h1><p>{sentence}</p></html>"
    )
    return HTMLResponse(html, status_code=status)


def explorer(folder: Path | None) -> HTMLResponse:
    """Return the explorer's page."""
    return page(MISSING) if folder is None else HTMLResponse((folder / "index.html").read_text("utf-8"))
