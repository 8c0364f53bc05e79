"""The explorer: GraphiQL from this machine when it is built, a sentence when it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from api_server import BEARER, Serve

from helix.service import Helix

BROWSER = {"accept": "text/html,application/xhtml+xml", **BEARER}


@pytest.fixture
def explorer_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "graphiql"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>the explorer</title>", "utf-8")
    (folder / "assets/index.js").write_text("export {}", "utf-8")
    (tmp_path / "secret.txt").write_text("outside", "utf-8")
    return folder


def test_without_the_bundle_a_sentence_says_how_to_get_it(helix: Helix, serve: Serve, tmp_path: Path) -> None:
    served = serve(helix, tmp_path / "not-built")
    answer = served.request("GET", "/graphql", headers=BROWSER)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert b"install Node.js 20.19" in answer.body
    assert served.ask("{ health { status } }")
    assert served.request("GET", "/static/graphiql/index.html", headers=BEARER).status == 404


def test_the_explorer_is_served_to_browsers(helix: Helix, serve: Serve, explorer_folder: Path) -> None:
    served = serve(helix, explorer_folder)
    page = served.request("GET", "/graphql", headers=BROWSER)
    assert b"the explorer" in page.body
    script = served.request("GET", "/static/graphiql/assets/index.js", headers=BEARER)
    assert script.status == 200
    assert "javascript" in script.headers["content-type"]


@pytest.mark.parametrize("path", ["../secret.txt", "%2e%2e/secret.txt", "assets/../../secret.txt", "..%2fsecret.txt"])
def test_nothing_outside_the_bundle_is_served(helix: Helix, serve: Serve, explorer_folder: Path, path: str) -> None:
    answer = serve(helix, explorer_folder).request("GET", f"/static/graphiql/{path}", headers=BEARER)
    assert answer.status == 404
    assert b"outside" not in answer.body
