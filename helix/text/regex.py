"""Regular expressions that are compiled when they are first used: a process that does not need one does not pay for it.

Helix has some 700 patterns. Compiling all of them took a fifth of a second in every process that imported the service,
most of which use a few.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Regex:
    """Stands for a pattern; what was once asked of it is its own attribute, at the cost of any other."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copying and pickling look for
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__.update({each: getattr(compiled, each) for each in _OFFERED})
        return getattr(compiled, name)

    def __repr__(self) -> str:
        return f"regex({self.pattern!r})"


_OFFERED = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "groupindex", "flags")


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression over text as `re.compile` does, which is compiled when it is first used."""
    return cast("re.Pattern[str]", _Regex(pattern, flags))
