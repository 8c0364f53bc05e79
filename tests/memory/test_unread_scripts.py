"""Two sentences in a script that the embedding model has not learned are two memories, however alike it has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.memory.remember.request import StoreRequest
from helix.operations import memories
from helix.providers.local_embedder import LocalEmbedder
from helix.providers.local_model import installed_model
from helix.service import Helix
from tests.waiting import UNHURRIED

MODEL = "bge-small-en-v1.5-int8"


@pytest.fixture
def read_by_the_model(tmp_path: Path, models_path: Path) -> Iterator[Helix]:
    """A store with the real model."""
    settings = configuration.load({"home": tmp_path / "h"}, environ=UNHURRIED, cwd=tmp_path)
    with Helix.open(settings, embedder=LocalEmbedder(installed_model(MODEL, models_path))) as helix:
        yield helix


@pytest.mark.parametrize(
    "said",
    [
        ("เซิร์ฟเวอร์ปิดทุกวันจันทร์", "เปลี่ยนรหัสผ่านฐานข้อมูล", "ห้ามดีพลอยวันศุกร์"),
        ("ម៉ាស៊ីនមេបិទនៅថ្ងៃចន្ទ", "ផ្លាស់ប្តូរពាក្យសម្ងាត់មូលដ្ឋានទិន្នន័យ"),
        ("սերվերը փակ է երկուշաբթի", "փոխիր տվյալների բազայի գաղտնաբառը"),
    ],
)
def test_what_a_model_cannot_read_is_not_taken_for_the_same(read_by_the_model: Helix, said: tuple[str, ...]) -> None:
    for words in said:
        memories.store(read_by_the_model, StoreRequest(trigger=words, resolution="", kind="fact", scope="p"))
    assert {one.trigger for one in memories.memories(read_by_the_model).items} == {*said}
