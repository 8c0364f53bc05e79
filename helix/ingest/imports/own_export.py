"""Own export: what Helix exported, ingested as somebody's word, or as it was where a person stands for it."""

from __future__ import annotations

from collections.abc import Iterator

from helix.ingest.draft import AlreadyHere, LinkDraft
from helix.ingest.imports.adapter import Adapter, Asked, Found, Told
from helix.ingest.imports.own_records import OwnNode, is_lines, is_vault, records
from helix.model.edge import OPEN_RELATIONS, Edge, Label, Ref, words_of
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.model.records import label_of, spelled, to_props
from helix.model.reports import IngestProblem

_SAID = ("trigger", "resolution", "name", "scope", "importance", "confidence", "valid_from", "valid_to", "agent")
_OF_EPISODES = ("session", "scope", "agent", "role")


def _read(asked: Asked) -> Iterator[Told]:
    """Yield active memories and episodes, and the edges that people draw between memories.

    The file may be anybody's. Nothing that Helix found out or counted is believed: no outcomes, no tasks, no versions.
    """
    sources: dict[str, str] = {}
    for one in records(asked.path):
        if isinstance(one, IngestProblem):
            yield one
        elif isinstance(one, Edge):
            ends = [sources.get(ref.id) for ref in (one.source, one.target) if ref.label is Label.MEMORY]
            if len(ends) == 2 and ends[0] and ends[1] and one.type in OPEN_RELATIONS:
                words = ", ".join(words_of(one.relation))
                yield LinkDraft(type=one.type, source=ends[0], target=ends[1], relation=words)
        elif asked.is_here(Ref(label=label_of(one.node), id=one.node.id)):
            yield AlreadyHere()
        elif (found := _found(one)) is not None:
            sources[one.node.id] = found.source(OWN.name)
            yield found


def _found(one: OwnNode) -> Found | None:
    node = one.node
    if isinstance(node, Memory) and node.status is Status.ACTIVE:
        told = spelled(Memory, to_props(node))
        attributes = {name: value for name, value in node.attributes.items() if not name.startswith("helix:")}
        says = {name: told[name] for name in _SAID if told.get(name) not in (None, "")}
        says |= {
            "resolution": node.resolution,
            "kind": node.kind.value,
            "attributes": attributes,
            "trust": told["trust"],
        }
        return Found(key=node.id, says=says, changes=True)
    if isinstance(node, Episode) and node.status is Status.ACTIVE:
        told = spelled(Episode, to_props(node))
        says = {"text": node.content, "ts": told["occurred_at"], "trust": told["trust"]}
        return Found(key=node.id, says=says | {name: told[name] for name in _OF_EPISODES if told.get(name)})
    return None


OWN = Adapter(
    name="helix",
    looks_for='what `helix export` wrote: JSON lines that begin with {"helix": "export"}, '
    "or a folder of nothing but notes with `helix:` first",
    fits=lambda peek: is_lines(peek) or is_vault(peek),
    read=_read,
)
