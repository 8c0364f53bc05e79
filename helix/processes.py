"""Processes: how Helix starts another program. The folder that somebody works in is data: nothing in it may be run.

`python -m` puts the working folder on the path of imports, and `PYTHON*` variables can do the same. Many programs also
look for configuration in the working folder and above it. So a child gets no such path, no such variable, and a working
folder where no project is. tests/test_architecture.py keeps every other way of starting a program out of Helix.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Collection, Mapping
from contextlib import chdir
from pathlib import Path

from helix import files
from helix.settings import Settings, dump_environment

PYTHON = sys.executable
NEUTRAL_FOLDER = os.path.abspath(os.sep)  # noqa: PTH100  (of the current drive, on Windows)
"""The working folder of a child: the root of the disk, which is there, is nobody's project and is not open to all."""

QUIET = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_XET_TELEMETRY_ENABLED": "0",
    "HF_HUB_DISABLE_XET": "1",  # plain HTTPS instead: hf-xet also keeps a cache and logs in the user's home
    "DO_NOT_TRACK": "1",
}
"""What keeps libraries from reporting to their makers. ONNX Runtime reads its variable when it is loaded."""

LOUD = frozenset({"PROMETHEUS_MULTIPROC_DIR", "prometheus_multiproc_dir"})
"""Variables that have libraries write files which Helix did not ask for."""

SYNC_TOKEN, TEAM_KEY = "HELIX_SYNC_TOKEN", "HELIX_KEY"
"""The variables that a command takes the token from by which a shared Helix, or a team's server, lets it in."""
PASSPHRASE = "HELIX_PASSPHRASE"
"""The variable that a command takes a strand's passphrase from; a daemon would keep it for weeks."""

_BARE = frozenset({"PATH", "HOME", "TMPDIR", "TEMP", "TMP", "TZ", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", *QUIET})
_BARE_BEGINNINGS = ("LC_", "PG", "SSL_", "MALLOC_", "OMP_", "OPENBLAS_")
"""Variables that say how the machine is set up, and those of PostgreSQL: all that a child gets that has no keys."""
_ISOLATED = ("-E", "-P")
"""No PYTHON* variables and no working folder on the path. Not `-I`: that would also leave out the user's own packages,
where `pip install --user` puts Helix."""


def python_command(module: str, *arguments: str, program: str = PYTHON) -> list[str]:
    """Return the command that runs a module in a child process; `program` is another interpreter."""
    return [program, *_ISOLATED, "-m", module, *arguments]


def script_command(script: str, *arguments: str) -> list[str]:
    """Return the command that runs a file in a child process with the standard library alone."""
    return [PYTHON, "-I", "-S", script, *arguments]


def helix_command() -> list[str]:
    """Return the command by which other processes run `helix`: its absolute path, where it is installed."""
    script = Path(PYTHON).with_name("helix.exe" if sys.platform == "win32" else "helix")
    return [str(script)] if script.is_file() else python_command("helix.cli.main")


def show_in_browser(url: str) -> bool:
    """Have the user's browser show a page; return whether one was found."""
    import webbrowser  # for one command

    with chdir(NEUTRAL_FOLDER):  # a PATH may name folders of the project: `node_modules/.bin`
        return webbrowser.open(url)


def environment(*, without: Collection[str] = (), given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a child process's environment: this one's, QUIET and `given`; no `PYTHON*`, LOUD, secrets, `without`."""
    left_out = LOUD.union(without, {PASSPHRASE, SYNC_TOKEN, TEAM_KEY})
    kept = {name: value for name, value in os.environ.items() if name not in left_out and not name.startswith("PYTHON")}
    return {**kept, **QUIET, **(given or {})}


def bare_environment() -> dict[str, str]:
    """Return the environment of a child that runs what others write, such as Cypher: the machine's, without any keys.

    Variables of PostgreSQL stay: the graph's process of a server reads the tables itself.
    """
    return {name: value for name, value in environment().items() if name in _BARE or name.startswith(_BARE_BEGINNINGS)}


def daemon_environment(settings: Settings) -> dict[str, str]:
    """Return the environment of a daemon that this process starts, with this process's settings pinned."""
    # The C library keeps a heap of its own for each thread, unless it is told otherwise before the process starts.
    few_heaps = {"MALLOC_ARENA_MAX": os.environ.get("MALLOC_ARENA_MAX", "2")} if settings.low_memory else {}
    return environment(given={**few_heaps, **dump_environment(settings)})


def keep_quiet() -> None:
    """Have libraries that are loaded into this process report to nobody from now on."""
    os.environ.update(QUIET)
    for name in LOUD:
        os.environ.pop(name, None)


def calm_numpy() -> None:
    """Have NumPy's matrix products use one thread, unless the environment says otherwise; before NumPy is loaded.

    A recall's products are small and requests run side by side: threads that wait for each other's cores made the
    vector stage four to ten times slower on a busy machine.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def begin_loading() -> None:
    """Pause garbage collection while this process loads what it serves with: all of it stays."""
    gc.disable()


def end_loading() -> None:
    """Resume garbage collection in this process, of what is made from now on."""
    gc.freeze()
    gc.enable()


def start_time(pid: int) -> str:
    """Return the start time of a process as its system writes it, or "" where it does not tell."""
    if sys.platform == "win32":
        return ""
    try:
        # Field 22, counted from behind the program's name, which may hold anything.
        return files.read_text(f"/proc/{pid}/stat", errors="replace").rpartition(")")[2].split()[19]
    except (FileNotFoundError, IndexError):
        command, clean = ["ps", "-o", "lstart=", "-p", str(pid)], environment(given={"LC_ALL": "C"})
        listing = subprocess.run(command, cwd=NEUTRAL_FOLDER, env=clean, capture_output=True, text=True, check=False)
        return listing.stdout.strip()
