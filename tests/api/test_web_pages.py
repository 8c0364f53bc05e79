"""The explorer and GraphiQL from this machine when they are built, a sentence when they are not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from api_server import BEARER, Serve
from graphql import parse, validate

from helix.api.schema import build_schema
from helix.service import Helix

ROOT = Path(__file__).resolve().parents[2]
BROWSER = {"accept": "text/html,application/xhtml+xml", **BEARER}


@pytest.fixture
def pages_folder(tmp_path: Path) -> Path:
    for name in ("explorer", "graphiql"):
        folder = tmp_path / "pages" / name
        (folder / "assets").mkdir(parents=True)
        (folder / "index.html").write_text(f"<!doctype html><title>the page {name}</title>", "utf-8")
        (folder / "assets/index.js").write_text("export {}", "utf-8")
    (tmp_path / "secret.txt").write_text("outside", "utf-8")
    return tmp_path / "pages"


@pytest.mark.parametrize("path", ["/", "/graphql"])
def test_without_the_bundle_a_sentence_says_how_to_get_it(
    helix: Helix, serve: Serve, tmp_path: Path, path: str
) -> None:
    served = serve(helix, tmp_path / "not-built")
    answer = served.request("GET", path, headers=BROWSER)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert b"install Node.js 20.19" in answer.body
    assert served.ask("{ health { status } }")
    assert served.request("GET", "/static/graphiql/index.html", headers=BEARER).status == 404


def test_each_page_is_served_to_browsers(helix: Helix, serve: Serve, pages_folder: Path) -> None:
    served = serve(helix, pages_folder)
    assert b"the page graphiql" in served.request("GET", "/graphql", headers=BROWSER).body
    for path in ("/", "/memory/some-name", "/happened/session/one", "/no/view"):
        page = served.request("GET", path, headers=BROWSER)
        assert (page.status, b"the page explorer" in page.body) == (200, True)
    for name in ("explorer", "graphiql"):
        script = served.request("GET", f"/static/{name}/assets/index.js", headers=BEARER)
        assert script.status == 200
        assert "javascript" in script.headers["content-type"]


def test_a_page_that_is_just_being_built_is_missing_and_no_failure(
    helix: Helix, serve: Serve, pages_folder: Path
) -> None:
    served = serve(helix, pages_folder)
    (pages_folder / "explorer/index.html").unlink()
    page = served.request("GET", "/", headers=BROWSER)
    assert (page.status, b"install Node.js" in page.body) == (200, True)


def test_files_go_compressed_and_those_named_by_their_content_are_kept(
    helix: Helix, serve: Serve, pages_folder: Path
) -> None:
    script = b"export const one = 1;\n" * 400
    for name in ("index.js", "index-B2EeY04L.js"):
        (pages_folder / "explorer/assets" / name).write_bytes(script)
    served = serve(helix, pages_folder)
    hashed = "/static/explorer/assets/index-B2EeY04L.js"
    small = served.request("GET", hashed, headers={"accept-encoding": "gzip", **BEARER})
    assert (small.headers["content-encoding"], gzip.decompress(small.body)) == ("gzip", script)
    assert "immutable" in small.headers["cache-control"]
    assert served.request("GET", hashed, headers={"accept-encoding": "identity", **BEARER}).body == script
    plain = served.request("GET", "/static/explorer/assets/index.js", headers=BEARER)
    assert plain.headers["cache-control"] == "no-cache"


def test_programs_and_strangers_get_no_page(helix: Helix, serve: Serve, pages_folder: Path) -> None:
    served = serve(helix, pages_folder)
    assert served.request("GET", "/memory/some-name", headers=BEARER).status == 404
    assert served.request("GET", "/static/explorer/assets/none.js", headers=BROWSER).status == 404
    stranger = served.request("GET", "/", headers={"accept": "text/html"})
    assert (stranger.status, b"helix open" in stranger.body, b"the page" in stranger.body) == (401, True, False)


def test_the_explorer_may_run_no_script_and_no_style_of_its_own_text(
    helix: Helix, serve: Serve, pages_folder: Path
) -> None:
    served = serve(helix, pages_folder)
    for path in ("/", "/decide", "/static/explorer/assets/index.js"):
        policy = served.request("GET", path, headers=BROWSER).headers["content-security-policy"]
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'; script-src 'self'; worker-src blob:; style-src 'self'")
    loose = served.request("GET", "/graphql", headers=BROWSER).headers["content-security-policy"]
    assert "script-src 'self';" in loose  # its editor writes styles, but no script


@pytest.mark.parametrize("path", ["../secret.txt", "%2e%2e/secret.txt", "assets/../../secret.txt", "..%2fsecret.txt"])
@pytest.mark.parametrize("name", ["explorer", "graphiql"])
def test_nothing_outside_the_bundle_is_served(
    helix: Helix, serve: Serve, pages_folder: Path, name: str, path: str
) -> None:
    answer = serve(helix, pages_folder).request("GET", f"/static/{name}/{path}", headers=BEARER)
    assert answer.status == 404
    assert b"outside" not in answer.body


def test_the_examples_of_graphiql_fit_the_schema() -> None:
    schema = build_schema()._schema
    examples = sorted((ROOT / "web/graphiql/examples").glob("*.graphql"))
    assert len(examples) >= 12
    for example in examples:
        text = example.read_text("utf-8")
        assert text.startswith("# "), "its first line says what it shows"
        assert validate(schema, parse(text)) == [], example.name
