"""Word lists: each list of a TOML file is read by some module, says what it is, and has no word twice."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import helix
from helix.text.word_lists import word_list, word_lists, word_table

PACKAGE = Path(helix.__file__).parent
SOURCE = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
FILES = sorted({PACKAGE / f"{file}.toml" for file in re.findall(r"(?:word_\w+|list_of_word)\(\s*\"([\w/]+)\"", SOURCE)})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_list_is_read_and_said_to_be_something(path: Path) -> None:
    text = path.read_text("utf-8")
    name = path.relative_to(PACKAGE).with_suffix("").as_posix()
    for key, held in tomllib.loads(text).items():
        assert re.search(rf"(?:word_\w+|list_of_word)\(\s*\"{name}\",\s*\"{key}\"", SOURCE), f"nothing reads {key}"
        assert re.search(rf"^# .*\n(?:{key} =|\[?\[{key}\])", text, re.MULTILINE), f"say what {key} is"
        if isinstance(held, str):
            assert [word for word, count in Counter(held.split()).items() if count > 1] == []


def test_a_key_of_several_words_stands_for_each_of_them() -> None:
    subcommands = word_lists("text/spotting/typed_commands", "subcommands")
    assert subcommands["npm"] == subcommands["yarn"] >= {"install", "run"}
    assert word_table("text/spotting/typed_commands", "subcommands")["gem"] == "build install uninstall"
    assert "the" in word_list("text/spotting/known_words", "function_words")
