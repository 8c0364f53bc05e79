"""Holds what a strand can do whose signer is known, and hostile: it says what it likes of what is here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import independent
import pytest
from exchanging import root
from test_strand_format import SEED, WORDS, believing

from helix.memory.remember.request import StoreRequest
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.model.reports import Job
from helix.operations import memories, strands
from helix.service import Helix
from helix.strands.rows import schema_number
from tests.strands.conftest import Machines
from tests.waiting import ended

FIRST, SECOND = "01a20000-0000-7000-8000-00000000000a", "01a20000-0000-7000-8000-00000000000b"
MOMENT = 1_767_225_600_000_000
_FILES = count()

Line = dict[str, Any]


def node(label: str, ident: str, texts: Sequence[str] = (), **props: object) -> Line:
    return {"id": ident, "label": label, "props": props, "t": "node", "texts": list(texts)}


def memory(ident: str, trigger: str, **props: object) -> Line:
    told = {"name": ident, "kind": "fact", "resolution": "", "recorded_at": MOMENT, "scope": "p", "status": "active"}
    return node("Memory", ident, [trigger], **{**told, "trust": "user_asserted", "trigger": trigger, **props})


def edge(kind: str, source: tuple[str, str], target: tuple[str, str], **props: object) -> Line:
    ends = {"from": list(source), "to": list(target)}
    return {**ends, "props": {"created_at": MOMENT, **props}, "scope": "p", "t": "edge", "type": kind}


def brought(helix: Helix, folder: Path, rows: Sequence[Line], **fields: object) -> Job:
    """Return what came of an import of rows, in the order of their keys, that a known key signed."""
    file = folder / f"hostile-{next(_FILES)}.dna"
    file.write_bytes(independent.write(rows, SEED, WORDS, **{"schema": schema_number(), **fields}))
    return ended(helix, strands.import_strand(helix, str(file), passphrase=WORDS))


def said(helix: Helix, trigger: str) -> str:
    request = StoreRequest(trigger=trigger, resolution="", kind="fact", scope="p", trust=Trust.USER_ASSERTED)
    return memories.store(helix, request).id


def found(helix: Helix, words: str) -> list[str]:
    return [item.node.id for item in helix.recall(RecallQuery(query=words, scope="p")).items]


@pytest.mark.parametrize("trust", [Trust.WEB, Trust.USER_ASSERTED])
def test_a_node_with_the_id_of_a_memory_takes_no_words_from_it(
    machines: Machines, tmp_path: Path, trust: Trust
) -> None:
    helix = believing(machines(), trust)
    mine = said(helix, "the proxy listens on port 8080")
    before = root(helix.store)
    episode = {"recorded_at": MOMENT, "occurred_at": MOMENT, "scope": "p", "status": "active", "content": "other words"}
    job = brought(helix, tmp_path, [node("Episode", mine, ["other words"], **episode)])
    assert job.error_code == "CONFLICT", job
    assert found(helix, "the proxy listens on port 8080") == [mine]
    assert root(helix.store) == before
