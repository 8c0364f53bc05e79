"""Runs command lines, each in a fork of one process that has imported everything: a whole daemon in half a second.

Reads JSON lines `{"arguments": [...]}` on stdin and answers each with `{"code": ..., "said": ...}`.
"""

from __future__ import annotations

import json
import os
import signal
import sys

from helix.api import app  # noqa: F401  (imported once, for all forks)
from helix.cli import (
    daemon_commands,  # noqa: F401
    main,
)

_SECONDS = 60


def forked(arguments: list[str]) -> tuple[int, str]:
    """Run one command line; return its exit code and all that it wrote."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        signal.alarm(_SECONDS)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(writing, stream.fileno())
        code = main.run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode("utf-8", "replace")
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said


for line in sys.stdin:
    code, said = forked(json.loads(line)["arguments"])
    sys.stdout.write(json.dumps({"code": code, "said": said}) + "\n")
    sys.stdout.flush()
