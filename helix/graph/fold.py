"""Folding: a graph that was not closed is opened and closed by a process of its own, before this one opens it.

Kuzu reads the log then, as slowly as it was written, and holds the interpreter while it does: nothing else would go on.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from helix.errors import HelixError, StoreLockedError
from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions, files_of

_REFUSED, _LOCKED = 2, 3
_TRIES = 10
_PAUSE_SECONDS = 0.5


def log_bytes(path: Path) -> int:
    """Return how long the log is that a graph left behind; 0 where it was closed."""
    wal = files_of(path)[1]
    return wal.stat().st_size if wal.exists() else 0


def fold(path: Path, options: KuzuOptions) -> bool:
    """Fold the graph's log in; False where that crashes Kuzu, so that it must not be tried in this process.

    What goes wrong otherwise is no matter: opening the graph will say it. A process that a killed Helix left behind at
    this very work is waited for.
    """
    limits = (options.buffer_pool_bytes, options.max_db_bytes, options.threads)
    command = [sys.executable, "-m", "helix.graph.fold", str(path), *map(str, limits)]
    for _ in range(_TRIES):
        code = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
        if code != _LOCKED:
            return code in (0, _REFUSED)
        time.sleep(_PAUSE_SECONDS)
    return True


def main(path: Path, buffer_pool_bytes: int, max_db_bytes: int, threads: int) -> int:
    """Open the graph and close it; return the exit code."""
    options = KuzuOptions(buffer_pool_bytes=buffer_pool_bytes, max_db_bytes=max_db_bytes, threads=threads)
    try:
        KuzuEngine(path, dimension=None, options=options).close()
    except StoreLockedError:
        return _LOCKED
    except HelixError:
        return _REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
