"""Word lists: reads the lists of words and the tables that stand as TOML beside the modules that use them.

A file is named by its path in the package, without the suffix, and read once. One key is one list or one table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

_PACKAGE = Path(__file__).resolve().parent.parent


def words(text: str) -> frozenset[str]:
    """Return the words of a list, which white space separates."""
    return frozenset(text.split())


@cache
def word_list(file: str, key: str) -> frozenset[str]:
    """Return the words of one list of a file."""
    return words(_tables(file)[key])


def word_lists(file: str, key: str) -> Mapping[str, frozenset[str]]:
    """Return a table of word lists, each by its name."""
    return {name: words(text) for name, text in word_table(file, key).items()}


def list_of_word(file: str, key: str) -> Mapping[str, str]:
    """Return a table of word lists turned round: by each word the name of its list."""
    return {word: name for name, text in word_table(file, key).items() for word in text.split()}


def word_table(file: str, key: str) -> Mapping[str, str]:
    """Return a table of a file, what stands in it by its name; a key of several words stands for each of them."""
    return {name: text for names, text in _tables(file)[key].items() for name in names.split()}


def word_data(file: str, key: str) -> Mapping[str, Any]:
    """Return a table of a file as it stands: by each name an array or a table."""
    return cast("Mapping[str, Any]", _tables(file)[key])


def word_rows(file: str, key: str) -> tuple[Mapping[str, Any], ...]:
    """Return the rows of a file's array of tables as they stand, in their order."""
    return tuple(_tables(file)[key])


@cache
def _tables(file: str) -> dict[str, Any]:
    return tomllib.loads((_PACKAGE / f"{file}.toml").read_text("utf-8"))
