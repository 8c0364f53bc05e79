"""Patterns that are compiled when they are first used."""

import copy
import re
import subprocess
import sys

import pytest

from helix.text.regex import regex


def test_a_pattern_does_what_a_compiled_one_does() -> None:
    pattern, compiled = (make(r"(?P<word>[a-z]+)-(\d+)", re.IGNORECASE) for make in (regex, re.compile))
    for text in ("Abc-12 and d-3", "abc-1", "nothing"):
        assert [match.span() for match in pattern.finditer(text)] == [match.span() for match in compiled.finditer(text)]
        assert bool(pattern.fullmatch(text)) == bool(compiled.fullmatch(text))
        assert pattern.sub("x", text) == compiled.sub("x", text)
        assert pattern.split(text) == compiled.split(text)
    assert (pattern.pattern, pattern.flags, dict(pattern.groupindex)) == (
        *(compiled.pattern, compiled.flags, dict(compiled.groupindex)),
    )
    assert copy.copy(pattern).search("a-1") is not None


def test_nothing_is_compiled_before_it_is_used() -> None:
    broken = regex("(")
    assert broken.pattern == "("
    with pytest.raises(re.error):
        broken.search("(")


@pytest.mark.impure
def test_importing_the_service_compiles_none_of_the_rules_for_secrets() -> None:
    asked = "import helix.service; from helix.text.secrets import families as f; print(f._KNOWN.__dict__.keys())"
    run = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "dict_keys(['pattern', '_flags'])"
