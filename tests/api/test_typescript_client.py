"""The TypeScript client: compiled strictly, and its own tests run by Node against a real server and a real daemon."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import threading
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import get_args, get_type_hints

import pytest
import typescript_client
from api_server import BEARER, TOKEN, Served
from graphql import parse, validate

from helix import errors
from helix.api.schema import build_schema
from helix.model.speaker import MARKS
from helix.operations import OPERATIONS
from tests.sampling import some

ROOT = typescript_client.ROOT
SDK = ROOT / "sdk/typescript"
INSTALLED = ROOT / "build/typescript/node_modules"
SECONDS = 120


def compiled(project: str, *options: str) -> None:
    compiler = INSTALLED / ".bin/tsc"
    if not compiler.is_file() or shutil.which("node") is None:
        pytest.skip("TypeScript is not installed: `scripts/setup client` does it where npm is")
    line = [compiler, "--project", SDK / project, "--typeRoots", INSTALLED / "@types", *options]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert run.returncode == 0, run.stdout


def test_what_is_generated_is_current() -> None:
    assert typescript_client.WRITTEN.read_text("utf-8").startswith(typescript_client.head()), "run scripts/schema"


def test_it_depends_on_nothing_and_the_core_on_no_runtime() -> None:
    assert '"dependencies"' not in (SDK / "package.json").read_text("utf-8")
    imported = {
        (path.name, target)
        for path in (SDK / "src").glob("*.ts")
        for target in re.findall(r'\bfrom "([^."][^"]*)"|from \'([^.\'][^\']*)\'', path.read_text("utf-8"))
    }
    assert {name for name, _ in imported} == {"node.ts"}
    compiled("test/web.json")  # without the types of Node: what browsers and Deno have is enough


def test_one_question_alone_is_answered_with_nothing() -> None:
    """Fields are nullable because they may fail; the type `Answer` of client.ts says which is null without an error."""
    hints = {one.name: get_type_hints(one.function)["return"] for one in OPERATIONS.values() if not one.writes}
    assert [name for name, hint in hints.items() if type(None) in get_args(hint)] == ["last"]


def test_it_knows_every_error_and_every_mark_of_an_agent() -> None:
    held = (SDK / "src/errors.ts").read_text("utf-8")
    for cls in vars(errors).values():
        if isinstance(cls, type) and issubclass(cls, errors.HelixError) and cls is not errors.HelixError:
            assert f"export class {cls.__name__} extends {cls.__base__.__name__} {{}}" in held  # type: ignore[union-attr]
            assert f"  {cls.code}: {cls.__name__},\n" in held
    marks = dict(re.findall(r'^  (\w+): "([\w-]+)",$', (SDK / "src/node.ts").read_text("utf-8"), flags=re.MULTILINE))
    assert marks == MARKS


def runtime(name: str) -> list[str | Path]:
    """Return how a runtime is told to run tests; Deno comes beside the compiler, on platforms that it is made for."""
    if name == "node":
        return ["node", "--test"]
    found = next((path for path in sorted(INSTALLED.glob("@deno/*/deno")) if path.is_file()), None)
    if found is None:
        pytest.skip("Deno is not installed: `scripts/setup client` does it where npm is")
    return [found, "test", "--allow-all", "--no-check", "--no-prompt"]


@pytest.mark.parametrize("name", some(["node", "deno"], 1))
def test_its_own_tests_pass(name: str, served: Served, tmp_path: Path) -> None:
    out = tmp_path / "built"
    compiled("test/tsconfig.json", "--outDir", str(out))
    (out / "package.json").write_text('{"type": "module"}', "utf-8")
    (tmp_path / "notes.md").write_text("# Queue\n\nThe queue is drained at night.\n", "utf-8")
    settings = {
        "HELIX_URL": served.origin,
        "HELIX_TOKEN": TOKEN,
        "HELIX_NOTES": str(tmp_path / "notes.md"),
        "HELIX_FOLDER": str(tmp_path / "other/store"),
        "HELIX_COMMAND": str(ROOT / ".venv/bin/helix"),
        "HELIX_HOME": str(tmp_path / "other"),
        "HELIX_EMBEDDING_MODEL": "none",
        "PYTHONPATH": str(ROOT),
        "DENO_NO_UPDATE_CHECK": "1",
        "NO_COLOR": "1",
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **settings}
    line = [*runtime(name), out / "test/client.test.js"]
    run = subprocess.run(
        line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]


PAGE = """<!doctype html><script type="module">
import * as all from "/index.js";
const helix = new all.Helix({ url: location.origin, token: "of no use here" });
const said = { trigger: "when a page asks", resolution: "it is told", kind: "FACT" };
const told = { stored: (await helix.store(said)).status };
told.recalled = (await helix.recall({ query: said.trigger, limit: 1 })).items[0].node.resolution;
told.refused = await helix.run(all.GetDocument, { nameOrId: "nothing-of-this-name" }).catch((error) => error.name);
const first = helix.subscribe(all.EventsDocument, { types: ["memory.added"] }).next();
first.then(({ value }) => { told.event = value.type; });
for (let n = 0; !told.event; n++) await helix.store({ ...said, trigger: `when ${n * 7919} fails` });
await fetch("/told", { method: "POST", body: JSON.stringify(told) });
</script>"""


class Site(BaseHTTPRequestHandler):
    """A page's own server: it has the client's modules, and passes on what is for the daemon."""

    daemon: Served
    folder: Path
    told: Queue[dict[str, str]]

    def do_GET(self) -> None:
        module = self.folder / self.path.lstrip("/")
        kind, text = ("text/javascript", module.read_text("utf-8")) if module.is_file() else ("text/html", PAGE)
        self._answer(kind)
        self.wfile.write(text.encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/told":
            self._answer("text/plain")
            self.told.put(json.loads(body))
            return
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=SECONDS)
        kept = {name: self.headers[name] for name in ("accept", "content-type")}
        connection.request("POST", self.path, body, {**kept, **BEARER})
        answer = connection.getresponse()
        self._answer(answer.getheader("content-type", ""))
        with suppress(ConnectionError), closing(connection):
            while chunk := answer.read1():
                self.wfile.write(chunk)

    def _answer(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing of each request."""


@pytest.mark.soak
def test_it_works_in_a_browser(served: Served, tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not installed")
    compiled("tsconfig.json", "--outDir", str(tmp_path / "built"))
    site = type("Site", (Site,), {"daemon": served, "folder": tmp_path / "built", "told": Queue()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), site)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    alone = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
    reached = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    line = [browser, "--headless=new", *alone, reached, f"--user-data-dir={tmp_path / 'profile'}"]
    shown = subprocess.Popen(
        [*line, f"http://127.0.0.1:{server.server_port}/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        told = site.told.get(timeout=SECONDS)
    finally:
        shown.terminate()
        shown.wait()
        server.shutdown()
        server.server_close()
    expected = {"stored": "ADDED", "recalled": "it is told", "refused": "NotFoundError", "event": "memory.added"}
    assert told == expected


def test_the_programs_of_its_readme_are_checked_against_the_types(tmp_path: Path) -> None:
    programs = re.findall(r"```ts\n(.*?)```", (SDK / "README.md").read_text("utf-8"), flags=re.DOTALL)
    assert len(programs) == 2
    for index, program in enumerate(programs):
        (tmp_path / f"program{index}.ts").write_text(program, "utf-8")
    paths = {"helix-memory": [str(SDK / "src/index.ts")], "helix-memory/node": [str(SDK / "src/node.ts")]}
    options = {"rootDir": "/", "noEmit": True, "declaration": False, "paths": paths}
    project = {"extends": str(SDK / "tsconfig.json"), "compilerOptions": options, "include": ["*.ts"]}
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    (tmp_path / "tsconfig.json").write_text(json.dumps(project), "utf-8")
    compiled(str(tmp_path / "tsconfig.json"))


def test_its_documents_are_valid(tmp_path: Path) -> None:
    out = tmp_path / "built"
    compiled("tsconfig.json", "--outDir", str(out))
    (out / "package.json").write_text('{"type": "module"}', "utf-8")
    program = (
        "import * as all from './operations.js';"
        "const asked = Object.entries(all).filter(([name]) => !name.endsWith('FragmentDoc'));"
        "console.log(JSON.stringify(asked.map(([, document]) => document.text)))"
    )
    line = ["node", "--input-type=module", "--eval", program]
    run = subprocess.run(line, cwd=out, capture_output=True, text=True, check=True)
    texts = json.loads(run.stdout)
    assert len(texts) > 100
    assert [text for text in texts if validate(build_schema()._schema, parse(text))] == []
