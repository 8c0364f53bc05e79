"""Tombstones: what is left of a node whose words were erased - that it was there, of which kind, and since when not.

Some keep salted digests too: by these Helix knows what it is not to derive or to read again. Of 14 spellings of one
sentence that a tester wrote (emphasis, quotes, invisible marks, letters of full width) all are found by their words.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from helix.model.candidate import Candidate, CandidateStatus
from helix.model.edge import Label, Ref
from helix.model.episode import Episode
from helix.model.letters import normalised
from helix.model.memory import Memory, Status
from helix.model.operations import DropNode, Operation, Props, PutNode
from helix.model.provenance import NOTES, Provenance
from helix.model.records import Node, node_from, put_record
from helix.model.reflection import Reflection
from helix.model.task import BUDGET, PLAN, TOKENS_INJECTED, Exploration, Plan, Task, Workspace

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


def tombstone(ref: Ref, props: Props, at: datetime, *, keep_out: bool = False) -> Operation:
    """Return the record of a node's tombstone, as an operation: its id, kind, scope, time of recording and its end.

    By its scope it is known to those who sync that alone. Of a task and its like stays what it came to. Every property
    that is stored is overwritten, known or not. `keep_out`: a memory leaves salted digests too, by which `KeptOut`
    tells that the same is not to be derived again. A node that is nothing but its name (an entity, a session) is
    dropped: its id is made of the name, so the next mention makes it anew.
    """
    bare = _bare(node_from(ref.label, ref.id, props), at, keep_out=keep_out)
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
    said += [words] if keep_out and (words := content_digest(node.content)) else []
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
    told = digests(node) if keep_out else []
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
"""Attribute of a tombstone: digests of what was said there, salted with its id."""
_EVERYWHERE = "helix"
"""Key of the digests that are looked up among many: it is the same on every machine."""
LEAST_WORDS = 3
"""Words of a sentence by which what was erased is looked for: a shorter one stands in many that do not mean it."""
_MOST_SENTENCES = 200
_WORD = re.compile(r"[^\W_]+")
_IGNORED = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
_UNSEEN = re.compile(f"[{_IGNORED}]")
"""What Unicode calls default ignorable (DerivedCoreProperties.txt), of the first plane."""
_WRITTEN = re.compile(rf"(?:[^\W_]|[{_IGNORED}]|[\u0300-\u036f])+")
_SEPARATED = re.compile(r"\w+")
_END = re.compile(r"(?<=[.!?\u2026])[\"'\u201d\u2019)\]]*\s+(?=[^\sa-z])|(?<=[\u3002\uff01\uff1f])|\n+")
_BEGINS = re.compile(r"[\n|(\[\"\u201c\u2018>]|[.!?\u2026:;](?=\W)")
_ENDS = re.compile(r"[\n|)\]\"\u201d\u2019<]|[.!?\u2026:;](?=\W)|[\u3002\uff01\uff1f]")
_DIGEST_BYTES = 16


def normal(text: str) -> str:
    """Return the words of an erased text in normal form: one case, a blank between two, nothing else.

    Marks of emphasis are no letters, and what nobody sees parts no word.
    """
    return " ".join(_WORD.findall(_UNSEEN.sub("", normalised("NFKC", text)).casefold()))


def told_sentences(*texts: str) -> list[str]:
    """Return what texts say, in normal form: each sentence of three words or more, or all where every one is shorter.

    By these an erasure looks through what was said, and a reading through what it reads.
    """
    told = [normal(piece) for text in texts for piece in _END.split(text)]
    return [one for one in told if one.count(" ") + 1 >= LEAST_WORDS] or [
        one for one in [normal(" ".join(texts))] if one
    ]


def digests(memory: Memory) -> list[str]:
    """Return the digests by which a memory is known: its key, where it was derived, its statement and its sentences."""
    said = (_of_key(str(memory.attributes.get(KEY, ""))), normal(f"{memory.trigger} {memory.resolution}"))
    told = dict.fromkeys(told_sentences(memory.trigger, memory.resolution))
    return sorted(
        {*(_salted(memory.id, one) for one in said if one), *map(_of_sentence, islice(told, _MOST_SENTENCES))}
    )


@dataclass(frozen=True, slots=True)
class KeptOut:
    """What may not come back, by digests: statements by their salts, the words of sentences by how many these are."""

    held: Mapping[str, frozenset[str]]
    sentences: Mapping[int, frozenset[str]] = field(default_factory=dict)

    def holds(self, trigger: str, resolution: str, key: str = "") -> bool:
        """Return whether this is a statement that is kept out, or says one in its trigger or its resolution alone."""
        texts = (trigger, resolution, f"{trigger} {resolution}")
        said = {form(text) for text in texts for form in (normal, _former_normal)} | {_of_key(key)}
        return any(_salted(salt, one) in known for one in said - {""} for salt, known in self.held.items())

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where a text says sentences that are kept out, whatever stands between their words, in order.

        Within another sentence the same words say something else.
        """
        words = _placed(text) if self.sentences else []
        found: list[tuple[int, int]] = []
        at = 0
        while at < len(words):
            count = next(
                (count for count in sorted(self.sentences, reverse=True) if self._says(text, words, at, count)), 0
            )
            if count:
                found.append((words[at][1], words[at + count - 1][2]))
            at += count or 1
        return found

    def cut(self, text: str, mark: str) -> str:
        """Return a text with a mark in the place of each sentence that is kept out."""
        for start, end in reversed(self.spans(text)):
            text = f"{text[:start]}{mark}{text[end:]}"
        return text

    def _says(self, text: str, words: Sequence[tuple[str, int, int]], at: int, count: int) -> bool:
        end = at + count
        if end > len(words) or (count < LEAST_WORDS and count < len(words)):
            return False
        said = " ".join(word for word, _, _ in words[at:end])
        if _digest(said) not in self.sentences[count]:
            return False
        before = at == 0 or _BEGINS.search(text[words[at - 1][2] : words[at][1]])
        behind = end == len(words) or _ENDS.search(text[words[end - 1][2] : words[end][1]])
        return bool(before and behind)


def _placed(text: str) -> list[tuple[str, int, int]]:
    """Return the words of a text in normal form, each with where it begins and ends as it is written."""
    return [
        (word, found.start(), found.end()) for found in _WRITTEN.finditer(text) for word in normal(found[0]).split()
    ]


def kept_out(held: Iterable[tuple[str, Iterable[str]]]) -> KeptOut:
    """Return the records of erased statements that may not come back, from pairs of a salt and its digests."""
    salted, sentences = dict[str, frozenset[str]](), dict[int, set[str]]()
    for salt, known in held:
        apart = [one.partition(":") for one in known]
        salted[salt] = frozenset(one for one, mark, _ in apart if not mark)
        for count, _, digest in (one for one in apart if one[1] and one[0].isdecimal()):
            sentences.setdefault(int(count), set()).add(digest)
    return KeptOut(salted, {count: frozenset(known) for count, known in sentences.items()})


def source_digest(source: str) -> str:
    """Return by which digest an erased episode's tombstone tells its source."""
    return f"source:{_digest(source)}"


def content_digest(content: str) -> str:
    """Return by which digest the tombstone of an episode that was named tells all of its words; empty without any."""
    said = normal(content)
    return f"all:{_digest(said)}" if said else ""


def _of_sentence(said: str) -> str:
    return f"{said.count(' ') + 1}:{_digest(said)}"


def _of_key(key: str) -> str:
    return f"key:{key}" if key else ""


def _former_normal(text: str) -> str:
    """Return the words of a text as tombstones told them that are older than `normal`: an underscore was a letter."""
    return " ".join(_SEPARATED.findall(normalised("NFKC", text).casefold()))


def _digest(said: str) -> str:
    return _salted(_EVERYWHERE, said)


def _salted(salt: str, said: str) -> str:
    keyed = hashlib.blake2b(said.encode("utf-8", "surrogatepass"), key=salt.encode()[:64], digest_size=_DIGEST_BYTES)
    return keyed.hexdigest()
