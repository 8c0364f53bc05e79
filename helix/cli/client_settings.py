"""The settings file of a coding client: its entries are set and taken back, and nothing else in it is touched."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from helix import files
from helix.cli.json_text import drop_member, set_member
from helix.errors import ConfigError

_BOM = "\ufeff"
_BLANK = _BOM + " \t\r\n"

Entries = Mapping[tuple[str, str], Any]
"""What is to stand in a settings file: an object's name and a name in it, and the value there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A settings file before and after; None where there is no file, whose folder goes too if it was made for it."""

    path: Path
    before: str | None
    after: str | None
    made_folder: bool = False

    @property
    def is_none(self) -> bool:
        """Whether nothing would change."""
        return self.before == self.after

    def write(self) -> None:
        """Bring the file to its new state, whole or not at all; its mode stays, and a link goes on leading to it."""
        path = self.path.resolve()
        if self.after is None:
            path.unlink(missing_ok=True)
            if self.made_folder:
                with suppress(OSError):
                    path.parent.rmdir()  # only where nothing else is in it
            return
        files.private_folder(path.parent)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(self.after)
                file.flush()
                os.fsync(file.fileno())
            Path(draft).chmod(mode)
            Path(draft).replace(path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Memo:
    """How to take back what was set in a settings file.

    `before` is the file as it was, None where there was none; it counts while the file is as it was left (`digest`).
    Once somebody has changed it, `had` says for each entry what stood there: [value], or [] for nothing.
    `made_folder` says that the file's folder was not there either.
    """

    path: str
    before: str | None
    digest: str
    had: tuple[tuple[str, str, list[Any]], ...]
    made_folder: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return it as it is kept."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Memo:
        """Return what `as_json` made a record of."""
        had = tuple((str(outer), str(inner), list(value)) for outer, inner, value in record["had"])
        made = bool(record.get("made_folder", False))
        return cls(path=record["path"], before=record["before"], digest=record["digest"], had=had, made_folder=made)


def read(path: Path) -> str | None:
    """Return a settings file's text, None where there is none. Raises ConfigError when no object of JSON is in it."""
    try:
        text = files.read_text(path)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="nothing was changed") from error
    _parsed(path, text)
    return text


def put(path: Path, entries: Entries, earlier: Memo | None = None) -> tuple[Change, Memo]:
    """Return the change that sets the entries, and how to take it back to before what `earlier` tells of."""
    now = read(path)
    if now is not None and _holds(_parsed(path, now), entries):
        # Without a memo of it they are taken to be ours, left by a home that has gone.
        return Change(path=path, before=now, after=now), earlier or memo_of(path, entries)
    base = now if earlier is None else take_back(earlier).after
    text = base if base is not None and base.strip(_BLANK) else "{}\n"
    settings = _parsed(path, text)
    had: list[tuple[str, str, list[Any]]] = []
    for (outer, inner), value in entries.items():
        there = settings.get(outer, {})
        if not isinstance(there, dict):
            hint = f"make {outer!r} an object, or take it out; nothing was changed"
            raise ConfigError(f"{outer!r} in {path} is no object", hint=hint)
        had.append((outer, inner, [there[inner]] if inner in there else []))
        text = _edited(text, partial(set_member, path=(outer, inner), value=value))
    made = not path.resolve().parent.is_dir() if earlier is None else earlier.made_folder
    memo = Memo(path=str(path), before=base, digest=_digest(text), had=tuple(had), made_folder=made)
    return Change(path=path, before=now, after=text), memo


def take_back(memo: Memo) -> Change:
    """Return the change that takes back what `put` did: exactly, or entry by entry where the file changed since."""
    path = Path(memo.path)
    now = read(path)
    if now is None or _digest(now) == memo.digest:
        after = None if now is None else memo.before
        return Change(path=path, before=now, after=after, made_folder=memo.made_folder)
    text = now
    held = {} if memo.before is None else _parsed(path, memo.before)
    for outer, inner, value in memo.had:
        if not isinstance(_parsed(path, text).get(outer), dict):
            continue
        if value:
            text = _edited(text, partial(set_member, path=(outer, inner), value=value[0]))
            continue
        text = _edited(text, partial(drop_member, path=(outer, inner)))
        if outer not in held and not _parsed(path, text)[outer]:
            text = _edited(text, partial(drop_member, path=(outer,)))
    nothing_left = memo.before is None and not _parsed(path, text)
    return Change(path=path, before=now, after=None if nothing_left else text, made_folder=memo.made_folder)


def memo_of(path: Path, entries: Entries) -> Memo:
    """Return how to take out entries whose memo is lost: one by one, and objects that they alone were in."""
    return Memo(path=str(path), before="{}", digest="", had=tuple((outer, inner, []) for outer, inner in entries))


def parsed(path: Path) -> dict[str, Any]:
    """Return what a settings file holds, {} where there is none. Raises ConfigError as `read` does."""
    text = read(path)
    return {} if text is None else _parsed(path, text)


def _holds(settings: Mapping[str, Any], entries: Entries) -> bool:
    return all(
        isinstance(there := settings.get(outer), dict) and there.get(inner) == value
        for (outer, inner), value in entries.items()
    )


def _edited(text: str, edit: Callable[[str], str]) -> str:
    """Return the text after an edit of it, with its byte order mark and its kind of line ends."""
    mark, plain = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    ends = "\r\n" in plain and "\n" not in plain.replace("\r\n", "")
    after = edit(plain.replace("\r\n", "\n") if ends else plain)
    return mark + (after.replace("\n", "\r\n") if ends else after)


def _parsed(path: Path, text: str) -> dict[str, Any]:
    if not text.strip(_BLANK):
        return {}
    try:
        settings = json.loads(text.removeprefix(_BOM))
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{path} is not valid JSON: {error}", hint="the client ignores it as it is: correct it; nothing was changed"
        ) from error
    if not isinstance(settings, dict):
        raise ConfigError(f"{path} holds no object", hint="correct it; nothing was changed")
    return settings


def _digest(text: str | None) -> str:
    return "" if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest()
