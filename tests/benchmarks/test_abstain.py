"""The benchmark of abstaining asks each store its own questions and those of the others."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import abstain

from helix.providers.fakes import HashEmbedder

TOWN = ("harbour", "tunnel", "bridge", "station", "airport", "market", "library", "museum")
KITCHEN = ("kettle", "oven", "ladle", "whisk", "toaster", "grater", "colander", "skillet")
COLOURS = ("amber", "crimson", "indigo", "scarlet", "teal", "violet", "ochre", "maroon")


def write_set(folder: Path, nouns: tuple[str, ...], verb: str) -> Path:
    folder.mkdir()
    pairs = [(noun, colour) for noun in nouns for colour in COLOURS]
    corpus = [{"id": f"{n}", "text": f"the {noun} was {verb} {colour}"} for n, (noun, colour) in enumerate(pairs)]
    queries = [
        {"id": f"q{n}", "query": f"which {noun} was {verb} {colour}?", "relevant": [f"{n}"]}
        for n, (noun, colour) in enumerate(pairs)
        if n % 9 == 0
    ]
    for name, lines in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return folder


def test_own_questions_are_kept_and_most_of_other_stores_rejected(tmp_path: Path) -> None:
    folders = [write_set(tmp_path / "town", TOWN, "painted"), write_set(tmp_path / "kitchen", KITCHEN, "enamelled")]
    found = abstain.measure(folders, HashEmbedder(), questions=6)
    assert [one["set"] for one in found] == ["town", "kitchen"]
    for one in found:
        assert one["right in the first five"] == 6
        assert one["questions of other sets"] == 2
        assert one["default"]["kept"] == 1.0
        assert set(one["rejected at share kept"]) == {"score", "fit"}
    assert len(abstain.table(found)) == 2 + 2 * 2
