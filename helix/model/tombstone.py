"""Tombstones: what is left of a node whose words were erased - that it was there, of which kind, and since when not.

Some keep salted digests too: by these Helix knows what it is not to derive or to read again. Of 14 spellings of one
sentence that a tester wrote (emphasis, quotes, invisible marks, letters of full width) all are found by their words.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate

from helix.model.candidate import Candidate, CandidateStatus
from helix.model.edge import Label, Ref
from helix.model.episode import Episode
from helix.model.memory import Memory, Status, body
from helix.model.operations import DropNode, Operation, Props, PutNode
from helix.model.provenance import GIT, NOTES, Provenance
from helix.model.records import Node, node_from, put_record
from helix.model.reflection import Reflection
from helix.model.task import BUDGET, PLAN, TOKENS_INJECTED, Exploration, Plan, Task, Workspace
from helix.model.told import (
    LEAST_WORDS,
    ToldSentence,
    each_said,
    former_normal,
    is_telling,
    left_of,
    normal,
    said_in,
    words_as_written,
)
from helix.model.written import AsRead, as_read

ERASED_AT = "helix:erased_at"
"""Attribute of a memory that was erased: the moment, in ISO form."""
ERASED_SOURCE = "erased:"
"""Source of a tombstone that keeps something out: by it they are found."""
WORK = frozenset({Label.PLAN, Label.TASK, Label.EXPLORATION, Label.WORKSPACE, Label.CANDIDATE})
"""Labels of what was planned and done. Without its words it still counts: what came of it, and its edges, stay."""
_EXTRACTOR = "erased"
_OWN = "helix:"
# Ids that clients draw at random, or Helix made of others. A scope may hold a colon: `localhost:3000/ada/shop`.
_ID = r"(?:[0-9a-f-]{16,64}|[a-z]{1,8}_[0-9A-Za-z]{16,40}|~[0-9a-f]{16})"
# The id of a commit or of a client's call says nothing by itself; without it, the next reading of the history would
# bring the text back.
_WORDLESS_SOURCE = re.compile(rf"git:.*:(?P<commit>[0-9a-f]{{7,64}})|(?P<call>[a-z-]+:{_ID}:{_ID})(?:#[a-z]+)?")


def origin_of(source: str) -> str:
    """Return what an episode's source is known by whatever its project is called: a commit's id, or a client's call's.

    Empty for any other source.
    """
    found = _WORDLESS_SOURCE.fullmatch(source)
    return "" if found is None else found["commit"] or found["call"]


def tombstone(ref: Ref, props: Props, at: datetime, *, keep_out: bool = False, source: bool = True) -> Operation:
    """Return the record of a node's tombstone, as an operation: its id, kind, scope, time of recording and its end.

    By its scope it is known to those who sync that alone. Of a task and its like stays what it came to. Every property
    that is stored is overwritten, known or not. `keep_out`: a memory leaves salted digests too, by which `KeptOut`
    tells that the same is not to be derived again, and `source` has an episode leave by what its source is known. A
    node that is nothing but its name (an entity, a session) is
    dropped: its id is made of the name, so the next mention makes it anew.
    """
    bare = _bare(node_from(ref.label, ref.id, props), at, keep_out=keep_out)
    if isinstance(bare, Episode) and not (source or keep_out):
        bare = replace(bare, source="")
    if bare is None:
        return DropNode(label=ref.label, id=ref.id)
    left = put_record(bare).props
    return PutNode(label=ref.label, id=ref.id, props={**dict.fromkeys(props), **left})


def is_erased(node: Node) -> bool:
    """Return whether the node is a tombstone."""
    provenance, attributes = getattr(node, "provenance", Provenance()), getattr(node, "attributes", {})
    return provenance.extractor == _EXTRACTOR or ERASED_AT in attributes


def is_tombstone(props: Props) -> bool:
    """Return whether these are the stored properties of a tombstone."""
    attributes = str(props.get("attributes") or "")
    return props.get("extractor") == _EXTRACTOR or (ERASED_AT in attributes and ERASED_AT in json.loads(attributes))


def _is_wordless(key: str, value: object) -> bool:
    """Return whether an attribute of a task is a number that Helix counted, or the id of its plan."""
    counted = key.startswith(_OWN) or key in (TOKENS_INJECTED, BUDGET)
    return key == PLAN or (counted and isinstance(value, int | float))


def _bare(node: Node, at: datetime, *, keep_out: bool) -> Node | None:
    moment = at.isoformat()
    provenance = Provenance(slice=moment, extractor=_EXTRACTOR)
    match node:
        case Memory():
            return _bare_memory(node, provenance, keep_out=keep_out)
        case Episode():
            return Episode(
                id=node.id,
                content="",
                scope=node.scope,
                recorded_at=node.recorded_at,
                occurred_at=node.recorded_at,
                source=_source_left(node, keep_out=keep_out),
                status=Status.FORGOTTEN,
                # Nothing is left to be learned from it: no background work takes it up.
                consolidated_at=at,
                provenance=provenance,
            )
        case Reflection():
            return Reflection(
                id=node.id,
                question="",
                insight="",
                scope=node.scope,
                recorded_at=node.recorded_at,
                level=node.level,
                status=Status.FORGOTTEN,
                provenance=provenance,
            )
        case Plan() | Exploration():
            return replace(node, objective="", attributes={ERASED_AT: moment})
        case Workspace():
            return replace(node, attributes={ERASED_AT: moment})
        case Task():
            kept = {key: value for key, value in node.attributes.items() if _is_wordless(key, value)}
            return replace(node, objective="", attributes={**kept, ERASED_AT: moment})
        case Candidate():
            return Candidate(
                id=node.id,
                scope=node.scope,
                kind=node.kind,
                trigger="",
                resolution="",
                recorded_at=node.recorded_at,
                status=CandidateStatus.REJECTED if node.status is CandidateStatus.WAITING else node.status,
                decided_at=node.decided_at,
                attributes={ERASED_AT: moment},
                provenance=provenance,
            )
        case _:
            return None


def _source_left(node: Episode, *, keep_out: bool) -> str:
    """Return what an erased episode is known by when it is read again.

    That is its source where this says nothing, else a digest of it, and of its words. Notes are known by their words
    alone: their source is a place that says something else tomorrow.
    """
    if origin_of(node.source):
        return node.source
    said = [source_digest(node.source)] if node.source and not node.source.startswith(f"{NOTES}:") else []
    if keep_out and (words := content_digest(node.content)):
        said += [words, *_of_texts({said_in(node.content)} - {""})]
    return ERASED_SOURCE + ",".join(sorted(said)) if said else ""


def joined_tombstones(one: Props, other: Props) -> Props:
    """Return the properties of the tombstone that two machines' tombstones of one node come to.

    It keeps out what either does.
    """
    bare = max((one, other), key=lambda props: json.dumps(_without_digests(props), sort_keys=True))
    told = {name: value for name, value in _told(bare).items() if name != KEPT_OUT}
    held = {str(digest) for props in (one, other) for digest in _told(props).get(KEPT_OUT, ())}
    sources = {str(props.get("source") or "") for props in (one, other)} - {""}
    named = {source for source in sources if not source.startswith(ERASED_SOURCE)}
    parts = {part for source in sources - named for part in source.removeprefix(ERASED_SOURCE).split(",")} - {""}
    source = max(named) if named else ERASED_SOURCE + ",".join(sorted(parts)) if sources else ""
    attributes = {**told, KEPT_OUT: sorted(held)} if held else told
    joined = {**bare, "source": source} if "source" in bare or source else dict(bare)
    if "attributes" in bare:
        joined["attributes"] = json.dumps(attributes, ensure_ascii=False, sort_keys=True)
    return joined


def _told(props: Props) -> dict[str, list[str]]:
    told = json.loads(str(props.get("attributes") or "{}"))
    return told if isinstance(told, dict) else {}


def _without_digests(props: Props) -> dict[str, object]:
    told = {name: value for name, value in _told(props).items() if name != KEPT_OUT}
    return {**{name: str(value) for name, value in props.items()}, "source": "", "attributes": told}


def _bare_memory(node: Memory, provenance: Provenance, *, keep_out: bool) -> Memory:
    told = [*digests(node), *_of_title(node)] if keep_out else []
    return Memory(
        id=node.id,
        name=f"erased-{node.id}",
        scope=node.scope,
        kind=node.kind,
        trigger="",
        resolution="",
        recorded_at=node.recorded_at,
        status=Status.FORGOTTEN,
        source=ERASED_SOURCE if keep_out else "",
        attributes={ERASED_AT: provenance.slice, **({KEPT_OUT: told} if told else {})},
        provenance=provenance,
    )


KEY = "helix:key"
"""Attribute of a derived memory: what it is known by, whatever version it is in."""
KEPT_OUT = "helix:kept_out"
"""Attribute of a tombstone: digests of what was said there, its statement's salted with the tombstone's id."""
_EVERYWHERE = "helix"
"""Key of the digests that are looked up among many: it is the same on every machine."""
_DIGEST_BYTES = 16
_BEGINS = "begins"
_TITLE = "title"


def digests(memory: Memory) -> list[str]:
    """Return the digests by which a memory is known: its key, where it was derived, its statement and its texts."""
    said = (_of_key(str(memory.attributes.get(KEY, ""))), normal(f"{memory.trigger} {memory.resolution}"))
    texts = {said_in(body(memory.trigger, memory.resolution)), said_in(memory.resolution or memory.trigger)} - {""}
    return sorted({*(_salted(memory.id, one) for one in said if one), *_of_texts(texts)})


@dataclass(frozen=True, slots=True)
class KeptOut:
    """What may not come back, by digests: statements by their salts, the words of texts by how many these are."""

    held: Mapping[str, frozenset[str]]
    texts: Mapping[int, frozenset[str]] = field(default_factory=dict)
    begins: frozenset[str] | None = frozenset()
    """Digests of how the texts begin: few texts that are read begin so. None where that is not known of one."""

    titles: frozenset[str] = frozenset()
    """Digests of the titles of commits, which say something of commits alone."""

    def has_title(self, title: str) -> bool:
        """Return whether a commit's title is one that is kept out, whatever its message goes on with."""
        return bool(self.titles) and _digest(normal(title)) in self.titles

    def holds(self, trigger: str, resolution: str, key: str = "") -> bool:
        """Return whether this is a statement that is kept out, or says one in its trigger or its resolution alone."""
        texts = (trigger, resolution, f"{trigger} {resolution}")
        said = {form(text) for text in texts for form in (normal, words_as_written, former_normal)} | {_of_key(key)}
        return any(_salted(salt, one) in known for one in said - {""} for salt, known in self.held.items())

    def cut(self, text: str) -> str:
        """Return a text without the texts that are kept out: where whole sentences of it say all of one.

        The same words within a sentence say something else, and so does a part of them.
        """
        return left_of(text, list(self.said_by(text)))

    def said_by(self, text: str) -> Iterator[ToldSentence]:
        """Yield the texts that are kept out and that a text says, in their order, as one sentence each."""
        read = as_read(text)
        # An older tombstone tells what it was written like.
        ways = [read, *([AsRead(text)] if read.text != text else [])] if self.texts else []
        found = (one for way in ways for sentences in each_said(way) for one in self._told_in(sentences))
        end = 0
        for one in sorted(found, key=lambda one: one.start):
            if one.start >= end:
                yield one
                end = one.end

    def _told_in(self, sentences: Sequence[ToldSentence]) -> Iterator[ToldSentence]:
        words = [word for sentence in sentences for word in sentence.words]
        ends = dict(zip(accumulate(len(one.words) for one in sentences), range(1, len(sentences) + 1), strict=True))
        at, first = 0, 0
        while at < len(sentences):
            end = self._end_of_one(words, first, ends)
            behind = first + sum(len(one.words) for one in sentences[at : end or at + 1])
            if end:
                yield ToldSentence(sentences[at].start, sentences[end - 1].end, tuple(words[first:behind]))
            at, first = end or at + 1, behind

    def cut_statement(self, trigger: str, resolution: str) -> tuple[str, str] | None:
        """Return a statement's trigger and resolution without what is kept out; None where a part of it, or all, is.

        What stays of it then, such as the heading above a rule, says nothing.
        """
        parts = trigger, resolution
        left = tuple(map(self.cut, parts))
        whole = "\n\n".join(left)
        if self.cut(whole) != whole or any(
            bool(normal(one)) != bool(normal(said)) for one, said in zip(left, parts, strict=True)
        ):
            return None
        return left[0], left[1]

    def _end_of_one(self, words: Sequence[str], first: int, ends: Mapping[int, int]) -> int:
        """Return behind which sentence the longest text ends that is kept out and begins at a word; 0 for none."""
        if self.begins is not None and self.begins.isdisjoint(_begins(words[first : first + LEAST_WORDS])):
            return 0
        for count in sorted(self.texts, reverse=True):
            end = ends.get(first + count)
            said = "" if end is None else " ".join(words[first : first + count])
            if end and _digest(said) in self.texts[count] and (count == len(words) or is_telling(said)):
                return end
        return 0


def kept_out(held: Iterable[tuple[str, Iterable[str]]]) -> KeptOut:
    """Return the records of erased texts that may not come back, from pairs of a salt and its digests."""
    salted, texts, begins, whole = dict[str, frozenset[str]](), dict[int, set[str]](), set[str](), True
    titles = set[str]()
    for salt, known in held:
        apart = [one.partition(":") for one in known]
        salted[salt] = frozenset(one for one, mark, _ in apart if not mark)
        counted = [(int(count), digest) for count, mark, digest in apart if mark and count.isdecimal()]
        for count, digest in counted:
            texts.setdefault(count, set()).add(digest)
        begun = {digest for name, _, digest in apart if name == _BEGINS}
        begins |= begun
        titles |= {digest for name, _, digest in apart if name == _TITLE}
        whole = whole and (bool(begun) or not counted)
    known_texts = {count: frozenset(digests) for count, digests in texts.items()}
    return KeptOut(salted, known_texts, frozenset(begins) if whole else None, frozenset(titles))


def source_digest(source: str) -> str:
    """Return by which digest an erased episode's tombstone tells its source."""
    return f"source:{_digest(source)}"


def content_digest(content: str) -> str:
    """Return by which digest the tombstone of an episode that was named tells all of its words; empty without any."""
    return _of_all(normal(content))


def content_digests(content: str) -> frozenset[str]:
    """Return by which digests a tombstone may tell all words of an episode: as they are read, or are written."""
    return frozenset(map(_of_all, {normal(content), words_as_written(content)})) - {""}


def _of_all(said: str) -> str:
    return f"all:{_digest(said)}" if said else ""


def _of_texts(texts: Iterable[str]) -> Iterator[str]:
    """Yield the digests of texts in normal form: of all of each with the number of its words, and of how it begins."""
    for said in texts:
        yield f"{said.count(' ') + 1}:{_digest(said)}"
        yield f"{_BEGINS}:{_digest(' '.join(said.split()[:LEAST_WORDS]))}"


def _of_title(memory: Memory) -> Iterator[str]:
    """Yield the digest of the title of the commit that a memory was read from, where that says enough."""
    said = normal(memory.trigger) if memory.provenance.extractor == GIT else ""
    if is_telling(said):
        yield f"{_TITLE}:{_digest(said)}"


def _begins(words: Sequence[str]) -> list[str]:
    """Return the digests of how a text begins with so few words: of the first, the first two, and so on."""
    return [_digest(" ".join(words[:count])) for count in range(1, len(words) + 1)]


def _of_key(key: str) -> str:
    return f"key:{key}" if key else ""


def _digest(said: str) -> str:
    return _salted(_EVERYWHERE, said)


def _salted(salt: str, said: str) -> str:
    keyed = hashlib.blake2b(said.encode("utf-8", "surrogatepass"), key=salt.encode()[:64], digest_size=_DIGEST_BYTES)
    return keyed.hexdigest()
