"""Writes the typed methods of both Python clients from the list of operations. `scripts/schema` runs it."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing
from collections.abc import AsyncGenerator, Callable, Iterator
from enum import Enum
from pathlib import Path
from textwrap import fill, indent
from types import NoneType, UnionType
from typing import Any

from helix.api import controls, subscriptions
from helix.api.fields import arguments
from helix.model.records import Node
from helix.operations import OPERATIONS
from helix.operations.glossary import plain

FOLDER = Path(__file__).resolve().parent.parent / "helix/client"
_MADE = "# Written by scripts/schema: change the operation instead."
_WIDTH = 106
_IMPORTS = """\
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import {iterator}, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from helix.client.domain import {names}
"""
_CLASS = '''\
class {name}(ABC):
    """Every operation as a method: positional is what has to be given, None stands for what is not.

    The words of an enum may be given as text. Raises HelixError of the class that the error's code names.
    """

    @abstractmethod
    {asynchronous}def _ask(self, operation: str, /, **arguments: Any) -> Any: ...

    @abstractmethod
    def _listen(self, operation: str, /, **arguments: Any) -> {iterator}[Any]: ...
'''


def files() -> dict[str, str]:
    """Return each written file by its name."""
    used: dict[str, str] = {}
    sync, asynchronous = ("".join(_methods(used, asynchronous=one)) for one in (False, True))
    names = ", ".join(sorted(used))
    shared = {"names": names}
    made = {
        "sync_operations.py": '"""Every operation as a method of a client that blocks."""\n\n'
        + _IMPORTS.format(iterator="Iterator", **shared)
        + _CLASS.format(name="Operations", asynchronous="", iterator="Iterator")
        + sync,
        "async_operations.py": '"""Every operation as a method of a client that is awaited."""\n\n'
        + _IMPORTS.format(iterator="AsyncIterator", **shared)
        + _CLASS.format(name="AsyncOperations", asynchronous="async ", iterator="AsyncIterator")
        + asynchronous,
        "domain.py": _domain(used),
    }
    return {name: _formatted(f"{_MADE}\n{text}") for name, text in made.items()}


def _domain(used: dict[str, str]) -> str:
    listed = ", ".join(f'"{name}"' for name in sorted(used))
    lines = [f"from {module} import {name}" for name, module in used.items()]
    return (
        '"""What operations take and answer with: records, enums and the types around them."""\n\n'
        "from __future__ import annotations\n\n"
        "from collections.abc import Iterator, Mapping, Sequence\n"
        "from datetime import datetime\n"
        "from typing import Any\n\n"
        + "\n".join(lines)
        + f'\n\n__all__ = ["Any", "Iterator", "Mapping", "Sequence", "datetime", {listed}]\n'
    )


BY_HAND = frozenset({"node", "nodes"})
"""They answer with nodes of any label, of which a document asks different fields: a dict for whoever walks by hand."""


def _methods(used: dict[str, str], *, asynchronous: bool) -> Iterator[str]:
    for name, operation in OPERATIONS.items():
        if name not in BY_HAND:
            yield _method(operation.function, used, asynchronous=asynchronous, keyed=operation.keyed)
    for function in controls.ALL:
        yield _method(function, used, asynchronous=asynchronous)
    for function in subscriptions.ALL:
        yield _method(function, used, asynchronous=asynchronous, streams=True)


def _method(
    function: Callable[..., Any],
    used: dict[str, str],
    *,
    asynchronous: bool,
    keyed: bool = False,
    streams: bool = False,
) -> str:
    held = list(arguments(function, 1))
    needed = [f"{name}: {_taken(hint, used)}" for name, hint, default in held if default is inspect.Parameter.empty]
    free = [
        f"{name}: {_taken(hint, used).removesuffix(' | None')} | None = None"
        for name, hint, default in held
        if default is not inspect.Parameter.empty
    ]
    names = [name for name, _, _ in held]
    if keyed:
        free.append("idempotency_key: str | None = None")
        names.append("idempotency_key")
    takes = ", ".join(["self", *needed, *(["*", *free] if free else [])])
    answers = typing.get_type_hints(function)["return"]
    passed = ", ".join([f'"{function.__name__}"', *(f"{name}={name}" for name in names)])
    if streams:
        assert typing.get_origin(answers) is AsyncGenerator
        told = f"{'Async' if asynchronous else ''}Iterator[{_spelled(typing.get_args(answers)[0], used)}]"
        head, body = "def", f"return self._listen({passed})"
    else:
        told = _spelled(answers, used)
        head, ask = ("async def", "await self._ask") if asynchronous else ("def", "self._ask")
        body = f"return {ask}({passed})"
    paragraphs = (inspect.getdoc(function) or "").split("\n\nRaises")[0].split("\n\n")
    words = "\n\n".join(fill(" ".join(one.split()), _WIDTH) for one in paragraphs)
    said = words if "\n" not in words else f"{words}\n"
    text = f'\n{head} {function.__name__}({takes}) -> {told}:\n    """{indent(said, "    ").strip(" ")}'
    return indent(f'{text}{"    " if chr(10) in words else ""}"""\n    {body}\n', "    ")


def _taken(hint: Any, used: dict[str, str]) -> str:
    """Return how an argument is annotated: a word of an enum may be given as text."""
    hint = plain(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return f"{_spelled(hint, used)} | str"
    inner = [arm for arm in typing.get_args(hint) if arm not in (NoneType, Ellipsis)]
    if typing.get_origin(hint) in (typing.Union, UnionType):
        return f"{' | '.join(_taken(arm, used) for arm in inner)} | None"
    if isinstance(origin := typing.get_origin(hint), type) and origin.__name__ in ("Sequence", "tuple"):
        return f"Sequence[{_taken(inner[0], used)}]"
    return _spelled(hint, used)


def _spelled(hint: Any, used: dict[str, str]) -> str:
    """Return a type as it is written, and note where what it names comes from."""
    if hint == Node:
        used["Node"] = "helix.model.records"
        return "Node"
    hint = plain(hint)
    if typing.get_origin(hint) is typing.Annotated:
        return _spelled(typing.get_args(hint)[0], used)
    if hint is NoneType or hint is Ellipsis or hint is Any or hint is object:
        return {NoneType: "None", Ellipsis: "...", Any: "Any", object: "object"}[hint]
    inner = [_spelled(arm, used) for arm in typing.get_args(hint)]
    origin = typing.get_origin(hint)
    if origin in (typing.Union, UnionType):
        return " | ".join(inner)
    named = origin or hint
    if named.__module__.startswith("helix."):
        used[named.__name__] = named.__module__
    return f"{named.__name__}[{', '.join(inner)}]" if inner else str(named.__name__)


def _formatted(text: str) -> str:
    for command in (["check", "--fix-only"], ["format"]):
        line = [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", str(FOLDER / "made.py"), "-"]
        text = subprocess.run(line, input=text, capture_output=True, text=True, check=True, cwd=FOLDER).stdout
    return text


if __name__ == "__main__":
    for name, text in files().items():
        (FOLDER / name).write_text(text, "utf-8")
