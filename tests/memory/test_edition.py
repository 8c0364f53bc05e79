"""What the rules found is known by the rules: any change of them, and nothing else, gives another edition."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from helix.memory.extraction.extract import RuleExtractor, digest_of, edition_of_rules


def test_the_edition_of_the_extractor_is_that_of_its_rules_and_of_its_setting() -> None:
    assert edition_of_rules() in RuleExtractor().edition
    assert RuleExtractor(0.3).edition != RuleExtractor(0.4).edition


def test_a_rule_whose_file_is_gone_is_no_part_of_an_edition(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        digest_of(tmp_path / "gone.py")


def test_any_word_of_a_list_makes_another_edition(tmp_path: Path) -> None:
    shutil.copytree(Path(str(files("helix.text"))), tmp_path / "text")
    before = digest_of(tmp_path / "text")
    (words,) = (tmp_path / "text").rglob("known_words.toml")
    words.write_text(words.read_text() + '# One.\nmore = "word"\n')
    assert digest_of(tmp_path / "text") != before


def test_any_line_of_a_rule_makes_another_edition_wherever_it_lies(tmp_path: Path) -> None:
    for place in ("one", "other"):
        shutil.copytree(Path(str(files("helix.text"))), tmp_path / place / "text")
    one, other = tmp_path / "one" / "text", tmp_path / "other" / "text"
    shutil.rmtree(other / "__pycache__", ignore_errors=True)
    assert digest_of(one) == digest_of(other)
    (cues,) = other.rglob("cues.py")
    cues.write_text(cues.read_text() + "\nX = 1\n")
    assert digest_of(one) != digest_of(other)
    (other / "cues.py").rename(other / "hints.py")
    assert len({digest_of(one), digest_of(other), digest_of(one, other)}) == 3
