"""Runs writers that are killed, each in a fork of one process that has imported everything.

Reads JSON lines `[home, first, moment]` on stdin. A writer's words go to the pipe `words` in its home, what it had to
complain of to the file `errors` there. Answers each line with the writer's pid and, once it is gone, its exit code.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from victim import main

for line in sys.stdin:
    home, first, moment = json.loads(line)
    pid = os.fork()
    if not pid:
        os.dup2(os.open(Path(home) / "words", os.O_WRONLY), sys.stdout.fileno())
        os.dup2(os.open(Path(home) / "errors", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), sys.stderr.fileno())
        main(Path(home), first, moment)
        os._exit(0)
    sys.stdout.write(f"{pid}\n")
    sys.stdout.flush()
    sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
    sys.stdout.flush()
