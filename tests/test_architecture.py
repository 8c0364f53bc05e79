"""Holds the house's shape: who may import whom, which module owns which library, and how long things may get."""

from __future__ import annotations

import ast
import gc
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from helix import processes
from helix.hooks import helix_hook

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "helix"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

SHARED = (
    ("errors", "patience", "on_demand_thread"),
    ("files",),
    ("confirmed", "held_folder"),
    ("local_store", "scopes"),
    ("local_socket", "remote_scope"),
    ("settings", "resources", "memory_limit", "lock", "identity", "bearer"),
    ("folders", "processes"),
    ("model",),
    ("client_settings",),
)
SERVICE = (
    *SHARED,
    ("text",),
    ("journal", "providers", "helixignore"),
    ("graph",),
    ("store",),
    ("recall",),
    ("memory",),
    ("command_outcome", "explorer"),
    ("agents",),
    ("exports",),
    ("ingest",),
    ("strands",),
    ("service",),
    ("operations",),
    ("api",),
    ("server",),
)
CLIENT = (*SHARED, ("client",), ("daemon",), ("hooks",), ("cli",))
BELOW = {
    part: frozenset(lower for lower_rung in rungs[:height] for lower in lower_rung)
    for rungs in (SERVICE, CLIENT)
    for height, rung in enumerate(rungs)
    for part in rung
}
REACHES_OVER = {
    "helix.cli.serve": {"text", "service", "operations", "api"},  # brings the service up in its own process
    "helix.cli.main": {"text"},  # usage errors quote what was typed, before there is a daemon to redact it
    "helix.cli.cypher_completion": {"text"},  # completes the words that the gate lets through, which are TOML
    "helix.cli.options": {"text"},  # so is a stranger's name of a folder that a person is warned of
    "helix.cli.output": {"text"},  # what leaves for a terminal is made inert where blocks are
    "helix.cli.models_commands": {"providers"},  # models are installed before there is anything to serve
    "helix.cli.init": {"providers", "text"},  # a name is written by the command itself
    # A server is prepared before there is anything to serve, and served by the command itself.
    "helix.cli.engine_commands": {"text", "journal", "store", "server"},
    "helix.cli.tenant_commands": {"journal", "server"},
}

OWNERS = {
    "kuzu": "graph/kuzu_engine.py",
    "sqlite3": "journal/",
    "fastembed": "providers/",
    "onnxruntime": "providers/",
    **dict.fromkeys(("litellm", "requests"), "providers/litellm_calls.py"),  # the extra: not everywhere
    "httpx": ("providers/litellm_calls.py", "server/forwarding.py"),  # both extras
    "jwt": "server/oidc.py",  # an extra
    "strawberry": "api/",
    "mcp": "api/mcp/",
    "nacl": "strands/",
    **dict.fromkeys(("psycopg", "psycopg_pool", "sqlglot"), "journal/postgres/"),  # an extra
    **dict.fromkeys(("boto3", "botocore"), "strands/s3_remote.py"),  # an extra
    "mcp_types": "api/mcp/",
    "pydantic": "api/mcp/",
    "markdown_it": "ingest/sections.py",
    "yaml": "client_settings/yaml_text.py",
    "jinja2": "agents/experiment/report_page.py",
    "h11": ("api/", "client/async_client.py"),
    "webbrowser": "processes.py",
}
RESOLVED = {"Path(__file__)", "index"}  # where the package is, and a commit's name in the index of commits
STARTS_PYTHON = {"processes.py", "hooks/helix_hook.py"}  # the hook may import nothing of Helix, and is held to the same
OTHER_STARTS = (
    *("os.exec", "os.spawn", "os.posix_spawn", "os.system", "os.popen", "os.fork", "pty.", "runpy.", "multiprocessing"),
    *("asyncio.create_subprocess", "concurrent.futures.ProcessPoolExecutor", "subprocess.getoutput"),
    *("subprocess.getstatusoutput", "click.edit", "click.launch", "click.echo_via_pager"),
)
FOLDERS = {
    "memory": (
        *("change", "scores", "neighbours", "contradiction", "job_run", "capture", "llm", "upkeep", "failures"),
        *("remember", "extraction", "insight", "erasure", "worker"),
    ),
    "agents": ("answers", "tasks", "outcomes", "experiment", "context", "observer", "hook_events"),
}
"""The folders within a part, and a file that stands among them: each imports none that comes after it."""
PUTS_OFF_IMPORTS = {
    *("helix", "helix.daemon", "helix.cli.output", "helix.cli.invocation"),  # the command line starts without them
    *("helix.client.sync_operations", "helix.client.async_operations"),
    *("helix.agents.experiment.report_page", "helix.ingest.sections", "helix.graph.kept"),  # so does the daemon
    *(
        "helix.journal.postgres.at_address",
        "helix.store.engine",
        "helix.cli.engine_commands",
        "helix.cli.tenant_commands",
    ),  # a server's are an extra
}
COMPUTES = {"store", "recall", "providers", "graph"}
LONGEST_FILE, LONGEST_FUNCTION = 500, 60
WRITTEN = {"helix.client.sync_operations", "helix.client.async_operations", "helix.client.domain"}
"""Modules that scripts/schema writes: nobody edits them, so they may be long."""


@pytest.fixture(scope="module", autouse=True)
def let_go() -> Iterator[None]:
    """Let go of what was read of the modules: their trees take a hundred megabytes.

    Until then the garbage collector rests: looking through what grows takes twice as long as reading it.
    """
    gc.disable()
    yield
    gc.enable()
    for read in (tree, nodes, imports, called):
        read.cache_clear()


@cache
def tree(name: str) -> ast.Module:
    """Return a module's tree."""
    return ast.parse(MODULES[name].read_text("utf-8"), str(MODULES[name]))


@cache
def nodes(name: str) -> list[ast.AST]:
    """Return the nodes of a module's tree."""
    return list(ast.walk(tree(name)))


@cache
def imports(name: str) -> frozenset[str]:
    """Return the full names that a module imports, wherever in it the import stands."""
    return frozenset(_imports(name))


def _imports(name: str) -> Iterator[str]:
    for node in nodes(name):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively, which hides what it reaches for"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else str(node.module)


def part(module: str) -> str:
    """Return the part of the house a module lies in: `helix.graph.build` lies in `graph`."""
    return module.split(".")[1]


def test_imports_point_down_the_ladder() -> None:
    strays = [
        f"{name} imports {target}"
        for name in MODULES
        if name != "helix"
        for target in imports(name)
        if target.startswith("helix.")
        and part(target) not in {part(name)} | BELOW[part(name)] | REACHES_OVER.get(name, set())
    ]
    assert not strays


def test_no_modules_import_each_other_in_a_circle() -> None:
    TopologicalSorter({name: imports(name) & MODULES.keys() for name in MODULES if name != "helix"}).prepare()


def test_what_lies_in_a_folder_has_one_order() -> None:
    """At every depth: of the files and folders of one folder, none imports what imports it, by whatever detour."""
    below: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for name in MODULES.keys() - {"helix"}:
        for target in imports(name) & MODULES.keys() - {"helix"}:
            here, there = name.split("."), target.split(".")
            shared = next((i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), None)
            if shared is not None:
                below.setdefault(tuple(here[:shared]), {}).setdefault(here[shared], set()).add(there[shared])
    for folder, order in below.items():
        try:
            TopologicalSorter(order).prepare()
        except CycleError as error:
            pytest.fail(f"a ring in {'/'.join(folder)}: {' -> '.join(error.args[1])}")


def test_the_folders_of_memory_and_agents_import_downwards_only() -> None:
    strays = [
        f"{name} imports {target}"
        for name in MODULES
        for target in imports(name) & MODULES.keys()
        for parent, order in FOLDERS.items()
        if name.startswith(f"helix.{parent}.") and target.startswith(f"helix.{parent}.")
        if order.index(name.split(".")[2]) < order.index(target.split(".")[2])
    ]
    assert not strays


def test_a_file_name_stands_for_one_file() -> None:
    places = Counter(name.rpartition(".")[2] for name, path in MODULES.items() if path.name != "__init__.py")
    assert [name for name, times in places.items() if times > 1] == []


def test_a_class_name_stands_for_one_class() -> None:
    places: dict[str, list[str]] = {}
    for name, path in MODULES.items():
        for node in tree(name).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    shared = {name: files for name, files in places.items() if len(files) > 1}
    assert not shared, "\n".join(
        f"`{name}` is a class in {' and in '.join(files)}: name all but one after what they belong to, as `StrandRow`"
        for name, files in shared.items()
    )


def test_nothing_imports_upwards_for_its_types() -> None:
    """What only types need stands below too: `TYPE_CHECKING` puts off a heavy import, and never hides a direction."""
    putting_off = {name for name in MODULES if "TYPE_CHECKING" in MODULES[name].read_text("utf-8")}
    assert putting_off == PUTS_OFF_IMPORTS


def test_arrays_stay_where_they_are_computed_with() -> None:
    columns = {"numpy", "helix.store.node_columns", "helix.store.catalogue", "helix.store.projection"}
    elsewhere = {name for name in MODULES if not COMPUTES.intersection(name.split("."))}
    strays = {name for name in elsewhere if columns & imports(name)}
    strays |= {name for name in elsewhere for n in nodes(name) if isinstance(n, ast.Attribute) and n.attr == "mask"}
    assert not strays, "ask the store's index, or recall"


def test_each_library_is_imported_by_its_owner_alone() -> None:
    strays = [
        f"{path.relative_to(PACKAGE)} imports {library}"
        for name, path in MODULES.items()
        for library in {target.partition(".")[0] for target in imports(name)} & OWNERS.keys()
        if not path.relative_to(PACKAGE).as_posix().startswith(OWNERS[library])
    ]
    assert not strays


@cache
def called(name: str) -> list[tuple[str, ast.AST]]:
    """Return every dotted name in a module, as it would be without `from ... import` and `as`, and where it stands."""
    meant: dict[str, str] = {}
    for node in nodes(name):
        if isinstance(node, ast.Import):
            meant.update({alias.asname or alias.name: alias.name for alias in node.names})
        elif isinstance(node, ast.ImportFrom):
            meant.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    dotted = ((_dotted(node), node) for node in nodes(name) if isinstance(node, ast.Name | ast.Attribute))
    parts = ((found.partition("."), node) for found, node in dotted if found)
    return [
        *((one, tree(name)) for one in meant.values()),
        *((meant.get(first, first) + dot + rest, node) for (first, dot, rest), node in parts),
    ]


def _dotted(node: ast.expr) -> str:
    """Return `a.b.c` as it is written, and nothing of what is reached through a call or an index."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute(value=value) if before := _dotted(value):
            return f"{before}.{node.attr}"
    return ""


def test_only_one_module_says_how_python_is_started() -> None:
    """Otherwise a `click.py` in the folder somebody works in is run; helix/processes.py says how it is kept out."""
    strays = [
        f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 1)} names {found}"
        for name, path in MODULES.items()
        for found, node in called(name)
        if found.startswith(OTHER_STARTS)
        or (found == "sys.executable" and path.relative_to(PACKAGE).as_posix() not in STARTS_PYTHON)
    ]
    assert not strays


def test_every_program_is_given_its_folder_and_its_environment() -> None:
    """A child that is given none takes those of whoever started Helix."""
    starts = {f"subprocess.{name}" for name in ("Popen", "run", "call", "check_call", "check_output")}
    strays = []
    for name, path in MODULES.items():
        named = {id(node): found for found, node in called(name)}
        strays += [
            f"{path.relative_to(PACKAGE)}:{node.lineno}"
            for node in nodes(name)
            if isinstance(node, ast.Call)
            and named.get(id(node.func)) in starts
            and not {"cwd", "env"} <= {keyword.arg for keyword in node.keywords}
        ]
    assert not strays


def test_texts_are_normalised_in_bounded_time() -> None:
    """A passphrase is its owner's, and has to stay the same letter by letter."""
    callers = {name for name in MODULES for found, _ in called(name) if found == "unicodedata.normalize"}
    assert callers == {"helix.model.letters", "helix.strands.sealed"}


def test_links_are_followed_in_bounded_time() -> None:
    """The system's way takes minutes for the links of one archive; helix/files.py says how they are followed.

    The hook may import nothing of Helix, and follows the way to the folder that the user started the client in.
    """
    strays = [
        f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 1)}"
        for name, path in MODULES.items()
        for node in nodes(name)
        if isinstance(node, ast.Attribute)
        and (node.attr == "realpath" or (node.attr == "resolve" and ast.unparse(node.value) not in RESOLVED))
    ]
    assert [stray.partition(":")[0] for stray in strays] == ["hooks/helix_hook.py"], strays


def test_the_hook_starts_python_as_the_rest_of_helix_does() -> None:
    command = processes.python_command("helix.cli.main")
    assert command == [sys.executable, *helix_hook._ISOLATED, "-m", "helix.cli.main"]


def test_every_library_that_helix_imports_is_a_declared_dependency() -> None:
    """This also keeps `helix` from importing `scripts` or `tests`, which a wheel does not hold."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = (*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values()))
    declared = {canonicalize_name(Requirement(text).name) for text in texts}
    homes = packages_distributions()
    libraries = {target.partition(".")[0] for name in MODULES for target in imports(name)} - sys.stdlib_module_names
    undeclared = {
        library for library in libraries if canonicalize_name(homes.get(library, [library])[0]) not in declared
    }
    assert undeclared == {"helix"}


def test_files_and_functions_stay_readable() -> None:
    long = [
        f"{path.relative_to(ROOT)}"
        for name, path in MODULES.items()
        if name not in WRITTEN and len(path.read_text("utf-8").splitlines()) > LONGEST_FILE
    ]
    long += [
        f"{name}.{node.name}"
        for name in MODULES
        for node in nodes(name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]
    assert not long


def test_every_module_says_what_it_owns() -> None:
    assert not [name for name in MODULES if tree(name).body and not ast.get_docstring(tree(name))]


def test_the_page_has_every_layer() -> None:
    page = " ".join((ROOT / "docs" / "architecture.md").read_text("utf-8").split())
    assert " < ".join(", ".join(rung) for rung in SERVICE) in page
    assert "errors to client_settings < " + " < ".join(chain.from_iterable(CLIENT[len(SHARED) :])) in page
    assert not [name for name, parts in FOLDERS.items() if f"{name}: {' < '.join(parts)} " not in page]


def test_a_module_has_one_title() -> None:
    """What comes together in one file is described as one thing."""
    titles = re.compile(r"(?:\A|\n\n)[A-Z]\S*(?: [a-z]+)?: ")
    two = {name for name in MODULES if len(titles.findall(ast.get_docstring(tree(name)) or "")) > 1}
    assert not two


def test_the_client_loads_the_standard_library_alone() -> None:
    """Hooks must start fast: with -S no installed package is found, neither Kuzu nor a model runtime nor any other."""
    program = "import sys, helix, helix.client; print(*{'kuzu', 'onnxruntime', 'numpy'} & sys.modules.keys())"
    run = subprocess.run([sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, ""), run.stderr


def test_the_daemon_starts_without_what_it_seldom_needs() -> None:
    """Kuzu stays in the graph's process, a model in its own; pages and notes load libraries when they are made."""
    late = {"kuzu", "onnxruntime", "tokenizers", "jinja2", "markdown_it", "httpx"}
    program = f"import sys, helix.cli.serve; print(*{late} & sys.modules.keys())"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, ""), run.stderr
