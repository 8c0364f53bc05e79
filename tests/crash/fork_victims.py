"""Runs the programs of this folder, each in a fork of one process that has imported everything.

Reads JSON lines `[program, home, ...]` on stdin, and has the program's `main` take what follows its name. Its words go
to `words` in the home, what it had to complain of to the file `errors` there. Answers each line with the pid of the
fork and, once it is gone, its exit code.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path

import helix.service  # noqa: F401  (what takes longest to import)

for line in sys.stdin:
    name, place, *arguments = json.loads(line)
    program, home = import_module(name), Path(place)
    pid = os.fork()
    if not pid:
        for stream, file in ((sys.stdout, "words"), (sys.stderr, "errors")):
            os.dup2(os.open(home / file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream.fileno())
        program.main(home, *arguments)
        os._exit(0)
    sys.stdout.write(f"{pid}\n")
    sys.stdout.flush()
    sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
    sys.stdout.flush()
