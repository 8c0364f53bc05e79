"""The settings file of a client: its entries are set and taken back, and nothing else in it is touched.

Every edit is of the text, and checked: what the text then holds must be what it held with the entry, and nothing else.
"""

from __future__ import annotations

import copy
import difflib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from helix import files
from helix.client_settings import json_text, marked_text, toml_text, yaml_text
from helix.errors import ConfigError
from helix.held_folder import held_folder, open_resolved

HOOK = "helix_hook.py"
"""The hook's file: a list's item that names it is one of ours."""

_SCRIPT = re.compile(r"#!/bin/sh\n# Helix's hook[^\n]*\nexec [^\n]*helix_hook\.py[^\n]*\n")
_BOM = "\ufeff"
_BLANK = _BOM + " \t\r\n"
_MOST_WORK = 20_000_000
"""Pairs of lines that are looked at, at most, to compare two texts, which takes a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsEntry:
    """What is to stand in a file: a value at a path, or as an `item` of the list there; `kept` lets another one be."""

    path: tuple[str, ...]
    value: Any
    item: bool = False
    kept: bool = False


class SettingsFormat(NamedTuple):
    """How a kind of file is read and edited; each raises ValueError where that cannot be done."""

    parse: Callable[[str], dict[str, Any]]
    put: Callable[[str, SettingsEntry], str]
    drop: Callable[[str, Sequence[str]], str]
    blank: str = ""


def _json_format(*, comments: bool) -> SettingsFormat:
    def put(text: str, entry: SettingsEntry) -> str:
        if not entry.item:
            return json_text.set_member(text, entry.path, entry.value, comments=comments)
        text = json_text.drop_items(text, entry.path, is_ours, comments=comments)
        return json_text.add_item(text, entry.path, entry.value, comments=comments)

    def drop(text: str, path: Sequence[str]) -> str:
        return json_text.drop_member(text, path, comments=comments)

    return SettingsFormat(partial(json_text.parse, comments=comments), put, drop, "{}\n")


_WHOLE = SettingsFormat(lambda text: {"text": text} if text else {}, lambda _, entry: str(entry.value), lambda *_: "")

FORMATS: Mapping[str, SettingsFormat] = {
    "json": _json_format(comments=False),
    "jsonc": _json_format(comments=True),
    "toml": SettingsFormat(
        toml_text.parse, lambda text, entry: toml_text.set_table(text, entry.path, entry.value), toml_text.drop_table
    ),
    "yaml": SettingsFormat(
        yaml_text.parse, lambda text, entry: yaml_text.set_member(text, entry.path, entry.value), yaml_text.drop_member
    ),
    "marked": SettingsFormat(
        marked_text.parse,
        lambda text, entry: marked_text.set_block(text, entry.value),
        lambda text, _: marked_text.drop_block(text),
    ),
    "whole": _WHOLE,
    "script": _WHOLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsChange:
    """A settings file before and after; None where there is no file. So many folders above it go too, if left empty.

    `links`: the path may lead through links, as a user's own may; a project's is as it was resolved.
    """

    path: Path
    before: str | None
    after: str | None
    made_folders: int = 0
    links: bool = True

    @property
    def is_none(self) -> bool:
        """Whether nothing would change in a client's settings file."""
        return self.before == self.after

    def write(self) -> None:
        """Bring a client's settings to their new state, whole or not at all; mode and link of the file stay."""
        if self.is_none:
            return
        path = _resolved(self.path, links=self.links)
        if self.after is not None:
            with held_folder(path.parent, make=True) as folder:
                fresh = 0o700 if self.after.startswith("#!") else 0o600
                folder.write(path.name, self.after, folder.mode_of(path.name, fresh))
            return
        with held_folder(path.parent) as folder:
            folder.remove(path.name)
        for made in path.parents[: self.made_folders]:
            with suppress(OSError), held_folder(made.parent) as outer:
                outer.remove_folder(made.name)  # only where nothing else is in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Memo:
    """How to take back what was set in a settings file for a client.

    `before` is the file as it was, None where there was none, and `after` as it was left. `had` says for each entry its
    path, whether it is an item of the list there, and what stood there: [value], or [] for nothing. `made_folders`
    says how many folders above were not there either. `real` is where a project's file lay; empty for a user's.
    """

    client: str
    path: str
    format: str
    before: str | None
    after: str
    had: tuple[tuple[tuple[str, ...], bool, list[Any]], ...]
    made_folders: int = 0
    real: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the memo of a client's settings as it is kept."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Memo:
        """Return the memo of a client's settings that `as_json` made a record of, of this version or the one before.

        Raises ValueError, KeyError, TypeError or AttributeError for anything else.
        """
        record = {("made_folders" if name == "made_folder" else name): value for name, value in record.items()}
        had = tuple((tuple(path), bool(item), list(value)) for path, item, value in record["had"])
        return cls(**{**record, "had": had, "made_folders": int(record.get("made_folders", 0))})


def is_ours(item: Any) -> bool:
    """Return whether an item of a client's settings runs Helix's hook."""
    return HOOK in json.dumps(item)


def is_our_script(text: str) -> bool:
    """Return whether a client's script is Helix's hook and nothing else: a line more, and it is somebody's own."""
    return _SCRIPT.fullmatch(text) is not None


def read(path: Path, form: str, *, links: bool = True) -> str | None:
    """Return the text of a client's settings file, None without one; `links` as in `SettingsChange`.

    Raises ConfigError for one unread or unparsed.
    """
    try:
        with open_resolved(_resolved(path, links=links)) as file:
            text = files.read_open(file).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="nothing was changed") from error
    _parsed(path, form, text)
    return text


def parsed(path: Path, form: str, *, links: bool = True) -> dict[str, Any]:
    """Return the values of a client's settings file, {} without one. Raises ConfigError as `read` does."""
    text = read(path, form, links=links)
    return {} if text is None else _parsed(path, form, text)


def put(
    client: str,
    path: Path,
    form: str,
    entries: Sequence[SettingsEntry],
    earlier: Memo | None = None,
    *,
    links: bool = True,
) -> tuple[SettingsChange, Memo]:
    """Return the change that sets a client's entries, and how to take it back to before what `earlier` tells of.

    `links` as in `SettingsChange`.
    """
    now = read(path, form, links=links)
    if now is not None and holds(_parsed(path, form, now), entries):
        # Without a memo of it they are taken to be ours, left by a home that has gone.
        return SettingsChange(path=path, before=now, after=now, links=links), earlier or memo_of(
            client, path, form, entries
        )
    base = now if earlier is None else take_back(earlier).after
    text = base if base is not None and base.strip(_BLANK) else (base or "") + FORMATS[form].blank
    had: list[tuple[tuple[str, ...], bool, list[Any]]] = []
    for entry in entries:
        held = _parsed(path, form, text)
        there = _found(path, held, entry.path)
        if entry.item:
            if there and not isinstance(there[0], list):
                raise _no(path, entry.path, "list")
            there = []
        if there and entry.kept:
            continue
        had.append((entry.path, entry.item, there))
        if there == [entry.value]:
            continue
        expected = _with(held, entry)
        text = _checked(path, form, text, entry, expected)
    missing = [above for above in _resolved(path, links=links).parents if not above.is_dir()]
    made = len(missing) if earlier is None else earlier.made_folders
    memo = Memo(client=client, path=str(path), format=form, before=base, after=text, had=tuple(had), made_folders=made)
    return SettingsChange(path=path, before=now, after=text, links=links), memo


def take_back(memo: Memo) -> SettingsChange:
    """Return the change that takes `put` out of a client's settings: exactly, or by entry where the file changed.

    Raises ConfigError where a project's file leads elsewhere by now: what is pulled can put a link in its place.
    """
    path, form, links = Path(memo.path), memo.format, not memo.real
    if not links and str(real := files.real_path(path)) != memo.real:
        words = f"{path} leads to {real} now, which Helix did not write"
        raise ConfigError(words, hint="remove the link, then try again; nothing was changed")
    path = path if links else Path(memo.real)
    now = read(path, form, links=links)
    if now is None or now == memo.after:
        after = None if now is None else memo.before
        return SettingsChange(path=path, before=now, after=after, made_folders=memo.made_folders, links=links)
    if form == "script" and not is_our_script(now):
        return SettingsChange(path=path, before=now, after=now, links=links)
    before = {} if memo.before is None else _parsed(path, form, memo.before)
    expected = _parsed(path, form, now)
    for at, item, value in memo.had:
        expected = _less(expected, before, at, item, value)
    text = _merged(memo, now)
    if text is None or _quietly_parsed(form, text) != expected:
        text = _dropped(memo, now, before)
        if _parsed(path, form, text) != expected:
            raise _unsafe(path)
    nothing_left = memo.before is None and not expected
    after = None if nothing_left else text
    return SettingsChange(path=path, before=now, after=after, made_folders=memo.made_folders, links=links)


def _resolved(path: Path, *, links: bool) -> Path:
    return files.real_path(path) if links else path


def memo_of(client: str, path: Path, form: str, entries: Sequence[SettingsEntry]) -> Memo:
    """Return how to take out a client's entries whose memo is lost: one by one, and objects they alone were in."""
    blank = None if FORMATS[form] is _WHOLE else FORMATS[form].blank
    had = tuple((entry.path, entry.item, list[Any]()) for entry in entries if not entry.kept)
    return Memo(client=client, path=str(path), format=form, before=blank, after="", had=had)


def holds(settings: Mapping[str, Any], entries: Sequence[SettingsEntry]) -> bool:
    """Return whether a client's settings have all entries."""
    for entry in entries:
        there: Any = settings
        for name in entry.path:
            there = there.get(name) if isinstance(there, dict) else None
        if entry.item:
            if not isinstance(there, list) or [one for one in there if is_ours(one)] != [entry.value]:
                return False
        elif there is None or (there != entry.value and not entry.kept):
            return False
    return True


def _dropped(memo: Memo, text: str, before: Mapping[str, Any]) -> str:
    """Return a text without each entry, and without objects and lists that were made for it and hold nothing more."""
    path, form = Path(memo.path), memo.format
    kind = FORMATS[form]
    for at, item, value in memo.had:
        if value:
            text = _edited(text, kind.put, SettingsEntry(path=at, value=value[0]))
        elif item:
            text = _edited(text, partial(json_text.drop_items, comments=form == "jsonc"), at, is_ours)
        else:
            text = _edited(text, kind.drop, at)
        for depth in range(len(at) if item else len(at) - 1, 0, -1):
            there = _found(path, _parsed(path, form, text), at[:depth])
            if there and not there[0] and not _found(path, before, at[:depth]):
                text = _edited(text, kind.drop, at[:depth])
    return text


def _with(held: Mapping[str, Any], entry: SettingsEntry) -> dict[str, Any]:
    """Return what a file holds once an entry is set."""
    result = copy.deepcopy(dict(held))
    inner = result
    for name in entry.path[:-1]:
        inner[name] = inner.get(name) or {}
        inner = inner[name]
    last = entry.path[-1]
    inner[last] = (
        [*(one for one in inner.get(last, ()) if not is_ours(one)), entry.value] if entry.item else entry.value
    )
    return result


def _less(
    held: Mapping[str, Any], before: Mapping[str, Any], at: Sequence[str], item: bool, value: Sequence[Any]
) -> dict[str, Any]:
    """Return what a file holds once an entry is taken back."""
    result = copy.deepcopy(dict(held))
    chain: list[tuple[Any, str]] = []
    inner: Any = result
    for name in at:
        if not isinstance(inner, dict) or (name not in inner and not value):
            return result
        chain.append((inner, name))
        inner = inner.setdefault(name, {})
    outer, last = chain[-1]
    if value:
        outer[last] = value[0]
        return result
    if item:
        outer[last] = [one for one in inner if not is_ours(one)] if isinstance(inner, list) else inner
    else:
        del outer[last]
        chain.pop()
    for depth in range(len(chain), 0, -1):
        outer, last = chain[depth - 1]
        known: Any = before
        for name in at[:depth]:
            known = known.get(name) if isinstance(known, Mapping) and name in known else _ABSENT
        if outer[last]:
            break
        if known is _ABSENT:
            del outer[last]
        elif not known:
            outer[last] = known  # a mapping of YAML that holds nothing may be written as nothing
    return result


_ABSENT: Any = object()


def _found(path: Path, held: Mapping[str, Any], at: Sequence[str]) -> list[Any]:
    """Return what stands at a path of what a file holds, as [value], or []. Raises ConfigError for no object."""
    inner: Any = held
    for depth, name in enumerate(at):
        if inner is None:
            return []
        if not isinstance(inner, dict):
            raise _no(path, at[:depth], "object")
        if name not in inner:
            return []
        inner = inner[name]
    return [inner]


def _no(path: Path, at: Sequence[str], kind: str) -> ConfigError:
    said = ".".join(at)
    hint = f"make {said!r} one, or take it out; nothing was changed"
    return ConfigError(f"{said!r} in {path} is not a {kind}", hint=hint)


def _merged(memo: Memo, now: str) -> str | None:
    """Return the text as it was before, with the lines that were changed since; None where both touch the same."""
    old, base, new = ((text or "").splitlines(keepends=True) for text in (memo.before, memo.after, now))
    hunks = [_hunks(base, lines) for lines in (old, new)]
    if not base or hunks[0] is None or hunks[1] is None:
        return None
    if any(one[0] < other[1] and other[0] < one[1] for one in hunks[0] for other in hunks[1]):
        return None
    result: list[str] = []
    place = 0
    for start, end, lines in sorted((*hunks[0], *hunks[1]), key=lambda hunk: hunk[:2]):
        if start < place:
            return None
        result += [*base[place:start], *lines]
        place = end
    return "".join([*result, *base[place:]])


def _hunks(base: list[str], lines: list[str]) -> list[tuple[int, int, list[str]]] | None:
    """Return what lines have in place of those of a base: where that starts and ends there; None where it takes long.

    What the two begin and end with alike is passed over: it is most of a file, and costs nothing.
    """
    same = _alike(base, lines)
    behind = _alike(base[same:][::-1], lines[same:][::-1])
    here, there = base[same : len(base) - behind], lines[same : len(lines) - behind]
    counts = Counter(here)
    if (len(here) + sum(counts[line] for line in there)) * min(len(here), len(there)) > _MOST_WORK:
        return None
    codes = difflib.SequenceMatcher(None, here, there, autojunk=False).get_opcodes()
    return [(same + start, same + end, there[at:to]) for tag, start, end, at, to in codes if tag != "equal"]


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (line, its) in pairs if line != its), min(len(one), len(other)))


def _checked(path: Path, form: str, text: str, entry: SettingsEntry, expected: Mapping[str, Any]) -> str:
    """Return the text with an entry. Raises ConfigError where it would not hold just what it should."""
    try:
        after = _edited(text, FORMATS[form].put, entry)
    except (ValueError, RecursionError) as error:
        raise _unsafe(path) from error
    if _quietly_parsed(form, after) != expected:
        raise _unsafe(path)
    return after


def _unsafe(path: Path) -> ConfigError:
    return ConfigError(
        f"{path} is written in a way that cannot be edited safely",
        hint="edit the entry named helix there by hand: docs/clients.md shows where it stands; nothing was changed",
    )


def _edited(text: str, edit: Callable[..., str], *given: Any) -> str:
    """Return the text after an edit of it, with its byte order mark and its kind of line ends."""
    mark, plain = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    ends = "\r\n" in plain and "\n" not in plain.replace("\r\n", "")
    after = edit(plain.replace("\r\n", "\n") if ends else plain, *given)
    return mark + (after.replace("\n", "\r\n") if ends else after)


def _quietly_parsed(form: str, text: str) -> dict[str, Any] | None:
    try:
        return FORMATS[form].parse(text.removeprefix(_BOM))
    except (ValueError, RecursionError):
        return None


def _parsed(path: Path, form: str, text: str) -> dict[str, Any]:
    try:
        return FORMATS[form].parse(text.removeprefix(_BOM))
    except (ValueError, RecursionError) as error:
        kind = {"jsonc": "JSON with comments", "marked": "text with Helix's marks"}.get(form, form.upper())
        raise ConfigError(
            f"{path} is not valid {kind}: {error}",
            hint="the client ignores it as it is: correct it; nothing was changed",
        ) from error
