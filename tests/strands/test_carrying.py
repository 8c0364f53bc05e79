"""Holds what strands promise as files: written, verified, opened and taken in, on another machine or the same one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exchanging import root, rows_of

from helix.memory.remember.request import StoreRequest
from helix.operations import memories, strands
from helix.operations import strand_keys as keys
from helix.service import Helix
from tests.strands.conftest import Machines
from tests.waiting import finished

SECRET = "open sesame, please"


def store(helix: Helix, trigger: str, **fields: object) -> str:
    return memories.store(helix, StoreRequest(trigger=trigger, resolution="", kind="fact", **fields)).id


def know_each_other(*machines: Helix) -> None:
    """Make a key on each machine, and have each know the others as the same person's."""
    for number, here in enumerate(machines):
        keys.new_key(here, f"machine-{number}")
    for here in machines:
        for number, there in enumerate(machines):
            if here is not there:
                (own,) = (key for key in keys.keys(there) if key.own)
                keys.import_key(here, f"machine-{number}", own.public)
                keys.trust_key(here, f"machine-{number}")


def carried(here: Helix, there: Helix, path: Path, **options: Any) -> Mapping[str, Any]:
    finished(here, strands.export_strand(here, str(path), passphrase=SECRET, **options))
    return finished(there, strands.import_strand(there, str(path), passphrase=SECRET)).result


def test_a_store_is_carried_to_another_machine_as_it_is(machines: Machines, tmp_path: Path) -> None:
    one, other = machines(), machines()
    know_each_other(one, other)
    proxy = store(one, "the proxy listens on port 8080")
    memories.edge(one, proxy, store(one, "tests need a database"), "depends_on")
    report = carried(one, other, tmp_path / "all.dna")
    assert report["counts"]["memories added"] == 2
    assert root(one.store) == root(other.store)
    assert rows_of(one.store) == rows_of(other.store)
    assert memories.get(other, proxy).trigger == "the proxy listens on port 8080"
