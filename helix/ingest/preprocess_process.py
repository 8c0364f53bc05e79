"""Preprocess process: a process of its own that cleans and reads slices while this one writes those before them.

Both are work for the interpreter, which one process does on one core only. What goes between the two is Helix's own,
over a pipe that nobody else has: pickles are safe there.
"""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
from collections.abc import Sequence
from typing import BinaryIO

from helix.ingest.draft import Slice
from helix.ingest.preparing import Cleaned, clean
from helix.model.reports import IngestProblem
from helix.processes import NEUTRAL_FOLDER, environment, python_command

log = logging.getLogger(__name__)


class Beside:
    """A process that runs `clean`; without it, when it cannot be started or has ended, this one does."""

    def __init__(self, text_limit: int) -> None:
        self._text_limit = text_limit
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = subprocess.Popen(
                python_command("helix.ingest.preprocess_process", str(text_limit)),
                cwd=NEUTRAL_FOLDER,
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        except OSError as error:
            log.warning("no second process", extra={"error": str(error)})

    def clean(self, batch: Sequence[Slice]) -> list[Cleaned | IngestProblem]:
        """Return what `preparing.clean` returns of a batch to import; for one thread at a time."""
        if self._process is not None and self._process.stdin is not None and self._process.stdout is not None:
            try:
                pickle.dump(list(batch), self._process.stdin, pickle.HIGHEST_PROTOCOL)
                self._process.stdin.flush()
                answer: list[Cleaned | IngestProblem] = pickle.load(self._process.stdout)
                return answer
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                log.warning("the second process has ended", extra={"error": str(error)})
                self.close()
        return clean(batch, self._text_limit)

    def close(self) -> None:
        """End the process that prepares an import."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def main(requests: BinaryIO, answers: BinaryIO, text_limit: int) -> None:
    """Prepare batches of slices for an import, in a process of its own, until there are no more."""
    while True:
        try:
            batch = pickle.load(requests)
        except EOFError:
            return
        pickle.dump(clean(batch, text_limit), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer, int(sys.argv[1]))
