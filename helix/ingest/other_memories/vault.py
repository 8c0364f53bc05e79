"""Vault: a folder of notes of Obsidian or basic-memory: front matter, observations, relations and links.

A grammar of the marks of Obsidian and basic-memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from helix.errors import NotFoundError
from helix.ingest.draft import LinkDraft, WholeReading
from helix.ingest.note_files import NoteFile, NoteFolder, exists, note_files
from helix.ingest.other_memories.adapter import Adapter, Asked, ImportedItem, Told, relation_for_word
from helix.ingest.other_memories.peek import Peek
from helix.ingest.plain import shorten
from helix.ingest.sections import front_matter_of
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.model.reports import IngestProblem
from helix.text.client_ids import short_digest

_NAME = "vault"
_LONGEST_TEXT = 30_000
_MOST_OBSERVATIONS = 300
_OBSERVATION = re.compile(r"^\s*[-*] \[([^\]\s][^\]\[]{0,60})\] +(\S.*)$")
_TARGET = r"\[\[([^\[\]|#^]{1,300})(?:[|#^][^\[\]]*)?\]\]"
# Each piece begins with what the one before it cannot end with: a line of spaces would else be tried in all ways.
_RELATION = re.compile(rf"^\s*[-*] +([^\[\]\s][^\[\]]{{0,59}}?) +{_TARGET}")
_HEADING = re.compile(r"^#{1,6} +(\S.{0,80})")
_LINK = re.compile(_TARGET)
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_TASK = frozenset({"x", "X", "-", "/", ">", "!", "?"})
"""What stands in the box of a task, and is no category."""
_WORDS: Mapping[str, Kind] = {
    **{kind.value: kind for kind in Kind if kind not in (Kind.SYSTEMIC, Kind.GAP)},
    **dict.fromkeys(("tech", "technique", "method"), Kind.PATTERN),
    **dict.fromkeys(("problem", "issue", "bug"), Kind.FAILURE),
}
_LINKED = "links to"
_AFTER_FILE = re.compile("[#~@]")


@dataclass(frozen=True, slots=True)
class _Link:
    source: str
    word: str
    target: str


def _fits(peek: Peek) -> bool:
    notes = [name for name in peek.names if name.endswith(".md")]
    return bool(notes) and (
        any(name.startswith(".obsidian/") for name in peek.names)
        or any("[[" in Peek(peek.path / name).text for name in notes[:200])
    )


def _read_vault(asked: Asked) -> Iterator[Told]:
    """Yield a memory for each note and for each observation in it, then the links between the notes.

    What no note says any more is gone; a note that is there and could not be read says what it said.
    """
    sources: dict[str, str] = {}
    aliases: dict[str, str] = {}
    links: list[_Link] = []
    places, read = set[str](), set[str]()
    try:
        for note in note_files([asked.path], root=asked.path):
            if isinstance(note, IngestProblem):
                yield note
                continue
            if isinstance(note, NoteFolder) or note.path.suffix.lower() != ".md":
                continue
            read.add(note.place)
            for told in _note(note, asked.place, sources, aliases, links):
                if isinstance(told, ImportedItem):
                    places.add(told.place(_NAME))
                yield told
    except NotFoundError as error:
        yield IngestProblem(where=str(asked.path), why=error.message)
    prefix = f"{_NAME}:{asked.place}/"

    def holds(place: str) -> bool:
        rest = place.removeprefix(prefix)
        files = [rest[: match.start()] for match in _AFTER_FILE.finditer(rest)]
        return place in places or not any(one in read or not exists(asked.path / one) for one in files)

    trust = Trust.USER_ASSERTED if asked.mine else Trust.TOOL_OUTPUT
    yield WholeReading(prefix=prefix, holds=holds, is_there=holds, trust=trust, position=len(places))
    for link in links:
        name = link.target.casefold()
        target = sources.get(name) or sources.get(PurePosixPath(name).name) or aliases.get(name)
        if target is not None:
            kind, word = relation_for_word(link.word)
            yield LinkDraft(type=kind, source=link.source, target=target, relation=word)


def _note(
    note: NoteFile, vault: str, sources: dict[str, str], aliases: dict[str, str], links: list[_Link]
) -> Iterator[Told]:
    matter, body = front_matter_of(note.text)
    place = PurePosixPath(note.place)
    title = _one(matter.get("title")) or place.stem
    said: list[str] = []
    observed: list[ImportedItem] = []
    linked: list[tuple[str, str]] = []
    heading = ""
    for line in body:
        heading = f"#{named[1].strip()}" if (named := _HEADING.match(line)) else heading
        relation = _RELATION.match(line)
        linked += [(relation[1], relation[2])] if relation else [(_LINKED, name) for name in _LINK.findall(line)]
        found = None if relation else _OBSERVATION.match(line)
        if found and found[1] not in _TASK and len(observed) < _MOST_OBSERVATIONS:
            observed.append(_observation(f"{vault}/{note.place}{heading}", title, found[1], found[2]))
        elif not relation:
            said.append(line)
    whole = "\n".join(said).strip()
    text = shorten(whole, _LONGEST_TEXT)
    if len(whole) > _LONGEST_TEXT:
        yield IngestProblem(where=note.place, why=f"only its first {_LONGEST_TEXT:,} characters come in")
    card = ImportedItem(
        key=f"{vault}/{note.place}",
        says={
            "trigger": title,
            "resolution": text or title,
            "kind": _WORDS.get(_one(matter.get("kind", matter.get("type"))).lower(), Kind.FACT).value,
            "ts": note.modified_at.isoformat(),
            "attributes": {name: value for name, value in matter.items() if name not in ("title", "permalink")},
        },
        changes=True,
    )
    source = card.source(_NAME)
    for name in (place.stem, title, note.place, note.place.removesuffix(".md"), _one(matter.get("permalink"))):
        if name:
            sources.setdefault(name.casefold(), source)
    for name in _all(matter.get("aliases", matter.get("alias"))):
        aliases.setdefault(name.casefold(), source)
    links += [_Link(source, word.strip(), target.strip()) for word, target in linked]
    yield card
    for one in observed:
        yield one
        links.append(_Link(one.source(_NAME), "about", note.place))


def _observation(place: str, title: str, category: str, text: str) -> ImportedItem:
    tags = _TAG.findall(text)
    says = {
        "trigger": f"{title}: {category}",
        "resolution": text.strip(),
        "kind": _WORDS.get(category.lower(), Kind.FACT).value,
        "attributes": {"category": category, **({"tags": tags} if tags else {})},
    }
    # Two observations under one heading are told apart by a digest: a source is a place, and no text.
    return ImportedItem(key=f"{place}~{short_digest(category, text.strip())}", says=says, changes=True)


def _one(value: object) -> str:
    return value if isinstance(value, str) else ""


def _all(value: object) -> list[str]:
    """Return a value of front matter as texts: a list, or one text, which may have several between commas."""
    texts = value.split(",") if isinstance(value, str) else value if isinstance(value, tuple) else ()
    return [text.strip() for text in texts if text.strip()]


VAULT = Adapter(
    name=_NAME,
    looks_for="a folder of notes (.md) with [[links]], or an .obsidian folder: Obsidian, basic-memory",
    fits=_fits,
    read=_read_vault,
)
