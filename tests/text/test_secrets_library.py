"""Holds that the package of patterns loads whatever became of an earlier try to load it."""

from __future__ import annotations

import subprocess
import sys

_BROKEN_OFF = """
import sys
from helix.text.redact import redact

class Once:
    def __init__(self): self.met = False
    def find_spec(self, name, path=None, target=None):
        if name == "detect_secrets.types" and not self.met:
            self.met = True
            raise MemoryError("no room to load it")

sys.meta_path.insert(0, Once())
token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4b"
try:
    redact(token)
except MemoryError as error:
    print(error)
print(redact(token).text)
"""


def test_a_loading_that_was_broken_off_is_made_good_by_the_next() -> None:
    run = subprocess.run([sys.executable, "-c", _BROKEN_OFF], capture_output=True, text=True, check=True, timeout=60)
    first, second = run.stdout.splitlines()
    assert first == "no room to load it"
    assert "16C7e42F" not in second
