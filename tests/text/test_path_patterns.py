"""Which names of files are patterns, and which paths they fit."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.text.path_patterns import MOST_WILDCARDS, as_name, as_path, fits, fixed_part, is_pattern

PARTS = st.text("ab./*", max_size=12)


@given(pattern=PARTS, path=PARTS)
def test_an_asterisk_stands_for_any_characters(pattern: str, path: str) -> None:
    assert fits(pattern, path) == fnmatchcase(path, pattern)


@given(path=st.text("ab/*[]?", max_size=12))
def test_the_name_of_a_file_is_no_pattern_and_fits_that_file(path: str) -> None:
    name = as_name(path)
    assert not is_pattern(name)
    assert as_path(name) == path
    assert fits(name, path)
    assert fits(f"*{name}", f"x{path}")


@given(pattern=st.text("ab/*", max_size=12), path=st.text("ab/*", max_size=12))
def test_what_fits_goes_through_the_fixed_part(pattern: str, path: str) -> None:
    assert not fits(pattern, path) or fixed_part(pattern) in {"", *path.split("/")}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("src/*.c", True),
        ("lib/vtls/**", True),
        ("app/[id]/*.tsx", True),
        ("app/[id].tsx", False),
        ("what?.md", False),
        ("a[*].txt", False),
        ("a[*]/*.txt", True),
        ("*a" * MOST_WILDCARDS, True),
        ("*a" * (MOST_WILDCARDS + 1), False),
    ],
)
def test_asterisks_make_a_pattern_and_not_too_many_of_them(name: str, expected: bool) -> None:
    assert is_pattern(name) == expected


def test_a_pattern_keeps_the_brackets_of_a_folder() -> None:
    assert fits("app/[id]/*.tsx", "app/[id]/page.tsx")
    assert not fits("app/[id]/*.tsx", "app/i/page.tsx")
    assert fixed_part("app/[id]/*.tsx") == "[id]"
    assert fixed_part("a[*]/*.tsx") == "a*"
    assert fixed_part("*.tsx") == ""
