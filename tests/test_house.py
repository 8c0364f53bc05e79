"""Holds what the repository promises around the code: the locks, the scripts, the wheel and what may be committed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import helix

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK, SERVER_LOCK, DEV_LOCK, BENCH_LOCK, EXAMPLES_LOCK = (
    (ROOT / f"requirements{name}.lock").read_text("utf-8") for name in ("", "-server", "-dev", "-bench", "-examples")
)
LOCKS = pytest.mark.parametrize(
    "lock",
    [LOCK, SERVER_LOCK, DEV_LOCK, BENCH_LOCK, EXAMPLES_LOCK],
    ids=["run", "server", "dev", "bench", "examples"],
)

# In pieces, because this file is searched too.
REGISTRIES = tuple(
    ".".join(words)
    for words in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("debian", "org"))
)
MACHINE_PATHS = tuple(
    "/".join(("", *words, "")) for words in (("work", "main"), ("work", "shared"), ("tmp", "w"), ("root", ".pyenv"))
)


def committed() -> list[Path]:
    """Return the files that are committed, or would be by `git add --all`."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def pins(lock: str) -> dict[str, list[Requirement]]:
    """Return the locked requirements by name; a name has several where platforms or Pythons need different versions."""
    found: dict[str, list[Requirement]] = {}
    for line in lock.splitlines():
        if line and not line.startswith((" ", "#")):
            requirement = Requirement(line.removesuffix("\\"))
            found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


def test_the_locked_onnx_runtime_is_one_that_cannot_report_to_its_maker() -> None:
    """From 1.29 on its builds send events home unless a variable is set before it is loaded."""
    assert all(pin.specifier.contains("1.28.0") or "1.23.2" in str(pin) for pin in pins(LOCK)["onnxruntime"])


@LOCKS
def test_every_locked_requirement_is_pinned_and_hashed(lock: str) -> None:
    entries = [entry for entry in re.split(r"^(?=\S)", lock, flags=re.MULTILINE) if entry]
    assert entries
    assert not [
        entry
        for entry in entries
        if not re.match(r"[\w.-]+==\S+ .*?\\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+$", entry)
    ]


@LOCKS
def test_the_lock_names_no_index(lock: str) -> None:
    assert "://" not in lock
    assert "index" not in lock


GROUPS = PROJECT["dependency-groups"]


@pytest.mark.parametrize(
    ("lock", "texts"),
    [
        (LOCK, [*PROJECT["project"]["dependencies"], *GROUPS["build"]]),
        (SERVER_LOCK, [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["server"]]),
        (DEV_LOCK, [*PROJECT["project"]["optional-dependencies"]["litellm"], *GROUPS["dev"]]),
        (BENCH_LOCK, GROUPS["bench"]),
        (EXAMPLES_LOCK, GROUPS["examples"]),
    ],
    ids=["run", "server", "dev", "bench", "examples"],
)
def test_the_lock_satisfies_the_project(lock: str, texts: list[str]) -> None:
    wanted = list(map(Requirement, texts))
    locked = pins(lock)
    unmet = [
        str(requirement)
        for requirement in wanted
        if not locked.get(canonicalize_name(requirement.name))
        or not all(
            pin.specifier.contains(version) and requirement.specifier.contains(version)
            for pin in locked[canonicalize_name(requirement.name)]
            for version in [next(iter(pin.specifier)).version]
        )
    ]
    assert not unmet, "run scripts/lock"


@pytest.mark.parametrize("lock", [LOCK, BENCH_LOCK], ids=["run", "bench"])
def test_what_two_locks_hold_has_the_same_version_in_both(lock: str) -> None:
    everywhere = pins(DEV_LOCK)
    differing = [
        str(pin)
        for name, found in pins(lock).items()
        for pin in found
        if name in everywhere and pin.specifier not in [other.specifier for other in everywhere[name]]
    ]
    assert not differing, "run scripts/lock"


def test_who_runs_helix_installs_neither_litellm_nor_the_developers_tools() -> None:
    """They are two thirds of what was installed once."""
    heavy = {"litellm", "openai", "boto3", "aiohttp", "tiktoken", "pyarrow", "mypy", "ruff", "pytest"}
    assert not heavy & set(pins(LOCK))


def test_what_each_locked_package_opens_and_writes_is_told() -> None:
    """Whoever brings a package in looks first for reports to its maker, update checks and cache folders."""
    told = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    names = [canonicalize_name(name) for name in re.findall(r"[\w-]+", told)]
    assert not sorted((set(pins(LOCK)) | set(pins(DEV_LOCK))) - set(names)), (
        "look through it, then name it in docs/dependencies.md"
    )


@pytest.mark.parametrize(
    "folder",
    ["web/explorer", "web/graphiql", "web/claude-code", "web/agents", "sdk/typescript", "sdk/typescript/generator"],
)
def test_the_package_lock_names_no_registry(folder: str) -> None:
    text = (ROOT / folder / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text
    assert '"integrity"' in text


def test_no_committed_file_names_a_registry_or_a_place_on_the_machine_it_was_made_on() -> None:
    strays = [
        f"{path.relative_to(ROOT)}: {banned}"
        for path in committed()
        for text in [path.read_bytes().decode("utf-8", "ignore")]
        for banned in (*REGISTRIES, *MACHINE_PATHS)
        if banned in text
    ]
    assert not strays


def test_nothing_built_is_committed() -> None:
    assert not [
        path for path in committed() if {"node_modules", "_data", "__pycache__"} & set(path.relative_to(ROOT).parts)
    ]


SCRIPTS = (
    "scripts/setup",
    "scripts/serve",
    "scripts/test",
    "scripts/check",
    "scripts/lock",
    "scripts/wheel",
    ".ci/run",
)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_can_be_run_and_stop_at_the_first_failure(name: str) -> None:
    script = ROOT / name
    lines = script.read_text("utf-8").splitlines()
    assert os.access(script, os.X_OK)
    assert lines[0] in {"#!/bin/sh", "#!/usr/bin/env bash"}
    assert lines[1].startswith("# ")
    assert any(line.startswith("set -eu") for line in lines)


def test_ci_runs_the_checks_and_then_the_test_command_of_the_readme() -> None:
    run = [line for line in (ROOT / ".ci/run").read_text("utf-8").splitlines() if line.startswith("scripts/")]
    assert run == ["scripts/check", "scripts/test"]
    assert "\nscripts/test" in (ROOT / "README.md").read_text("utf-8")


def test_one_version_everywhere() -> None:
    assert PROJECT["project"]["version"] == helix.__version__
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    assert helix.__version__ in headings


def test_a_wheel_works_without_the_checkout(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """What it holds and where that is found; in a soak a daemon of it is started and asked, too."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "installed")
    # An environment of its own, with this one's packages behind it: PYTHONPATH would not reach the daemon.
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True)
    (site,) = environment.glob("lib/python*/site-packages")
    shutil.copytree(tmp_path / "installed", site, dirs_exist_ok=True)
    (site / "packages.pth").write_text(f"{sysconfig.get_path('purelib')}\n", "utf-8")
    home = {"HOME": str(tmp_path), "HELIX_HOME": str(tmp_path / "home"), "HELIX_EMBEDDING_MODEL": "none"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HELIX_", "PYTHON"))}

    def ran(*arguments: str) -> str:
        command = [str(environment / "bin/python"), "-E", "-P", *arguments]
        run = subprocess.run(command, cwd=tmp_path, env={**kept, **home}, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        return run.stdout

    program = (
        "from importlib.metadata import entry_points\n"
        "from helix import resources\n"
        "(entry,) = entry_points(group='console_scripts', name='helix')\n"
        "print(entry.value)\n"
        "for name in ('schema', 'queries'):\n"
        "    folder = resources.directory(name)\n"
        "    print(len([path for path in folder.rglob('*') if path.is_file()]), folder)\n"
    )
    entry, *lines = ran("-c", program).splitlines()
    assert entry == PROJECT["project"]["scripts"]["helix"]
    for line, name in zip(lines, ("schema", "queries"), strict=True):
        count, _, folder = line.partition(" ")
        assert Path(folder) == site / "helix/_data" / name
        assert int(count) == len([path for path in (ROOT / name).rglob("*") if path.is_file()])
    helix_command = ("-m", "helix.cli.main")
    assert ran(*helix_command, "connect", "claude-code", "--dry-run")
    if pytestconfig.getoption("--soak", default=False):
        try:
            ran(*helix_command, "store", "Tests need the virtual environment", "--kind", "convention")
            assert "virtual environment" in ran(*helix_command, "recall", "the virtual environment of tests")
        finally:
            ran(*helix_command, "stop")
    package = [path.relative_to(ROOT) for path in committed() if path.is_relative_to(ROOT / "helix")]
    assert {Path("helix/agents/experiment/report_page.html"), Path("helix/plugin/hooks/hooks.json")} <= {*package}
    assert not [path for path in package if not (site / path).is_file()]


def test_the_image_keeps_its_data_in_a_volume_and_runs_as_nobody_in_particular() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    last = lines[max(place for place, line in enumerate(lines) if line.startswith("FROM ")) :]
    words = [line.split(maxsplit=1) for line in last]
    told = {key: rest for key, rest in (pair for pair in words if len(pair) == 2)}
    assert int(told["USER"]) > 0
    assert json.loads(told["VOLUME"]) == ["/data"]
    assert json.loads(told["HEALTHCHECK"].partition("CMD ")[2]) == ["helix", "status"]
    assert json.loads(told["CMD"]) == ["helix", "serve"]
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    taken = [name for line in lines if line.startswith("COPY ") and "--from" not in line for name in line.split()[1:-1]]
    assert taken and all((ROOT / name).exists() and f"!{name.rstrip('/')}" in ignored for name in taken)
    assert {"web/explorer/", "web/graphiql/", "web/shared/"} <= {*taken}, "both pages are made of the last, too"


def test_every_file_that_a_page_names_is_there() -> None:
    there = [f"/{path.relative_to(ROOT).as_posix()}" for path in committed()]
    pages = [path for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")) if path.name != "CHANGELOG.md"]
    named = {
        (page.relative_to(ROOT).as_posix(), name)
        for page in pages
        for name in re.findall(r"`([\w/]+\.(?:py|cypher|sql)|docs/[\w/]+\.md)`", page.read_text("utf-8"))
    }
    assert len(named) > 60
    gone = [(page, name) for page, name in sorted(named) if not any(path.endswith(f"/{name}") for path in there)]
    assert not gone


def test_every_folder_and_loose_file_has_a_place_in_the_map() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("## The map")[2].partition("\n## ")[0]
    rows = [row.split(" | ")[0] for row in page.splitlines() if row.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([\w/.]+)`", row)}
    inside = {path.relative_to(ROOT / "helix") for path in committed() if path.is_relative_to(ROOT / "helix")}
    folders = {path.parent.as_posix() for path in inside if path.name == "__init__.py"} - {"."}
    files = {path.name for path in inside if path.parent == Path() and path.suffix == ".py"} - {"__init__.py"}
    assert folders | files <= named
    assert named <= folders | files | {path.parts[0] for path in inside}


def test_every_link_between_pages_leads_to_a_heading_that_is_there() -> None:
    pages = (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
    broken = []
    for page in pages:
        for target, _, anchor in re.findall(r"\]\(([^)\s:#]+)(#([\w-]+))?\)", page.read_text("utf-8")):
            path = (page.parent / target).resolve()
            headings = (
                re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
                if path.suffix == ".md" and path.is_file()
                else []
            )
            slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            if not path.exists() or (anchor and anchor not in slugs):
                broken.append((page.relative_to(ROOT).as_posix(), target, anchor))
    assert not broken
