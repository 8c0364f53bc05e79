"""Kept extractions: what an extractor found in an episode, with the vectors, as the journal keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from helix.memory.extraction.extract import Candidate
from helix.model.entity import EntityKind, Mention
from helix.model.memory import Kind
from helix.store.matrix import VectorArray, vectors_of

Found = tuple[Candidate, VectorArray | None]
"""A candidate and the vector of its own words; None for one that its episode's vector speaks for."""


def packed(found: Sequence[Found], *, held_back: bool) -> tuple[str, bytes]:
    """Return what an episode came to as JSON, and the vectors of the candidates that have one, one after the other.

    `held_back`: the gate let nothing of it through.
    """
    rows = [
        {
            "place": one.place,
            "kind": one.kind.value,
            "trigger": one.trigger,
            "resolution": one.resolution,
            "confidence": one.confidence,
            "explicit": one.explicit,
            "whole": one.whole,
            "speaker": one.speaker,
            "entities": [[each.kind.value, each.name] for each in one.entities],
            "files": one.files,
            "steps": one.steps,
            "vector": vector is not None,
        }
        for one, vector in found
    ]
    return json.dumps({"held_back": held_back, "candidates": rows}), b"".join(
        vector.tobytes() for _, vector in found if vector is not None
    )


def unpacked(episode: str, told: str, vectors: bytes) -> tuple[list[Found], bool]:
    """Return what was packed for an episode: what was found in it, and whether the gate held it back."""
    kept = json.loads(told)
    rows = kept["candidates"]
    count = sum(row["vector"] for row in rows)
    own = iter(vectors_of(vectors, count))
    found = [(_candidate(episode, row), next(own) if row["vector"] else None) for row in rows]
    return found, kept["held_back"]


def _candidate(episode: str, row: Mapping[str, Any]) -> Candidate:
    return Candidate(
        episode=episode,
        place=row["place"],
        kind=Kind(row["kind"]),
        trigger=row["trigger"],
        resolution=row["resolution"],
        confidence=row["confidence"],
        explicit=row["explicit"],
        whole=row["whole"],
        speaker=row["speaker"],
        entities=tuple(Mention(kind=EntityKind(kind), name=name) for kind, name in row["entities"]),
        files=tuple(row["files"]),
        steps=tuple(row["steps"]),
    )
