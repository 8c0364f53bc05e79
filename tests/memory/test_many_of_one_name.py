"""Very many memories that want one name: each is given its own without trying all the others."""

from __future__ import annotations

import sys
from types import FrameType

from helix.memory.change.compose import Composer
from helix.model.memory import Kind, Memory
from helix.service import Helix
from helix.store.index import StoreIndex
from helix.store.writer import Decision


def of_one_name(helix: Helix, count: int) -> Decision[list[str]]:
    composer = Composer(helix.store, helix.store.runtime.clock())
    names = [composer.name("p", "fix-parser") for _ in range(count)]
    for at, name in enumerate(names):
        told = f"Fix the parser, for the time {at}"
        composer.node(
            Memory(
                id=composer.new_id(),
                name=name,
                kind=Kind.PATTERN,
                trigger=told,
                resolution="",
                recorded_at=composer.now,
                scope="p",
            )
        )
    return Decision((composer.change("test"),), names)


def test_a_name_is_found_among_very_many_by_few_looks(helix: Helix) -> None:
    names = helix.store.writer.submit(lambda: of_one_name(helix, 500))
    assert names == ["fix-parser", *(f"fix-parser-{number}" for number in range(2, 501))]
    composer, looks = Composer(helix.store, helix.store.runtime.clock()), 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal looks
        looks += event == "call" and frame.f_code is StoreIndex.named.__code__

    sys.setprofile(count)
    try:
        name = composer.name("p", "fix-parser")
    finally:
        sys.setprofile(None)
    assert (name, looks < 30) == ("fix-parser-501", True)
