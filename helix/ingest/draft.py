"""Drafts: what a source says, before it has ids, redaction, vectors or a place in a store.

A `source` string names where a draft came from and nothing else has that name, so a draft whose source is already in
the store is not imported again: that alone makes every import repeatable and resumable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Union

from helix.model.edge import Relation
from helix.model.entity import Mention
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.model.reports import IngestProblem
from helix.text.cleaning import clean, given_name, slug
from helix.text.client_ids import short_digest
from helix.text.secrets.redact import redact

_SUSPECT = re.compile(r"[=\s%?\ud800-\udfff]|(?<!\w)(?![0-9a-f]{7,64}(?!\w))[\w-]{16,}")
"""What a name has that may hold a secret, or half of a surrogate pair, which no store can write: a file's name has it
that is no UTF-8. Few do, and looking for secrets takes longer than all else done to a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeDraft:
    """One thing that happened. `occurred_at` None: the source does not say; `scope` "": the scope of the import.

    `forked_from` is the session that its own was forked from: nothing comes in where that is private.
    `silent`: it is kept as evidence and found by nothing, as it says nothing that anybody asks for. `found_by` is the
    text that it is found by; "": by its content.
    """

    source: str
    content: str
    trust: Trust
    occurred_at: datetime | None = None
    session: str = ""
    forked_from: str = ""
    scope: str = ""
    agent: str = ""
    role: str = ""
    files: tuple[str, ...] = ()
    entities: tuple[Mention, ...] = ()
    silent: bool = False
    found_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft:
    """One thing to remember, got without a model and grounded in the episode of its slice.

    `files` are paths, or globs that end in `/**`, from the root of the project. `name` "": one is made from the
    trigger; `importance` None: it is judged from the text; `scope` "": the scope of the import. `found_by` is a text
    that it is found by, where that says more than the memory does.
    """

    source: str
    kind: Kind
    trigger: str
    resolution: str
    trust: Trust
    confidence: float
    found_by: str = ""
    importance: float | None = None
    name: str = ""
    scope: str = ""
    agent: str = ""
    files: tuple[str, ...] = ()
    entities: tuple[Mention, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkDraft:
    """An edge between two memories, each named by its source; `relation` is the free word of a RELATED edge.

    GROUNDED_IN leads to the episode of that source. An end that is not in the store is no error: there is no edge then.
    One that a reader yields by itself, outside a slice, may name what comes later: it is drawn when all else is in.
    """

    type: Relation
    source: str
    target: str
    relation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyHere:
    """Something that is in the store as it is, not by an import: it counts as skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeReading:
    """All of a file or folder was read: places whose sources begin with `prefix` are gone but for those it `holds`.

    `is_there` says of any place whether its file is there still, for what has moved from there.
    """

    prefix: str
    holds: Callable[[str], bool]
    is_there: Callable[[str], bool]
    trust: Trust
    position: int
    scope: str = ""


Item = Union["Slice", IngestProblem, LinkDraft, AlreadyHere, WholeReading]
"""What a reader yields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One unit of a source, written whole or not at all.

    `position` counts the units of the source from 1, the ones that gave no slice included, so it never falls and
    shows progress. Links may name memories of earlier slices. Where `supersedes` is not empty, every memory in the
    store whose source starts with it and is not in this slice is an older reading of the same place, to be retired;
    one that is in the store already, under its source, has not changed and keeps what it has earned.

    From the time of the episode on, the memories of the sources `ends` hold no longer, and those of `revives` again.
    """

    episode: EpisodeDraft
    position: int
    memories: tuple[MemoryDraft, ...] = ()
    links: tuple[LinkDraft, ...] = ()
    supersedes: str = ""
    ends: tuple[str, ...] = ()
    revives: tuple[str, ...] = ()


def without_secret_names(item: Slice) -> Slice:
    """Return an ingested slice with no secret in the names of its parts: scopes, roles, entities, relations.

    Its texts are redacted later, when it is cleaned; its names are needed before, to look it up. Readers put
    sources together of parts that `told_key` told: as a whole, `git:api-key:<commit>` would read as a key.
    """
    episode = item.episode
    return replace(
        item,
        episode=replace(
            episode,
            scope=told_name(episode.scope),
            role=told_name(episode.role),
            entities=tuple(replace(one, name=told_name(one.name)) for one in episode.entities),
        ),
        memories=tuple(
            replace(
                one,
                scope=told_name(one.scope),
                entities=tuple(replace(mention, name=told_name(mention.name)) for mention in one.entities),
            )
            for one in item.memories
        ),
        links=tuple(replace(one, relation=told_name(one.relation)) for one in item.links),
    )


def name_of(draft: MemoryDraft) -> str:
    """Return what a memory is called as long as nothing else is: the name it was given, else one by its trigger."""
    return given_name(draft.name) or slug(draft.trigger)


def told_name(name: str) -> str:
    """Return a name from an ingested source without the secret that may stand in it."""
    return redact(clean(name)).text if _SUSPECT.search(name) else name


def told_key(name: str) -> str:
    """Return the key of an ingested thing without a secret: a digest keeps apart what had one."""
    told = told_name(name)
    return told if told == name else f"{told}~{short_digest(name)}"


def in_one_scope(items: Iterable[Item]) -> Iterator[Item]:
    """Yield ingested items without the scopes that they name: all of them go into that of the import."""
    for item in items:
        if isinstance(item, WholeReading):
            yield replace(item, scope="")
        else:
            yield in_scope(item, "") if isinstance(item, Slice) else item


def in_scope(item: Slice, scope: str) -> Slice:
    """Return an ingested slice with all of it in one scope; "" for that of the import."""
    memories = tuple(replace(one, scope=scope) for one in item.memories)
    return replace(item, episode=replace(item.episode, scope=scope), memories=memories)
