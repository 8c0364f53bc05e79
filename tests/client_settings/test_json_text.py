"""Holds that a member is set and dropped in JSON text without anything else in it changing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.client_settings.json_text import drop_member, parse, set_member

NAMES = st.sampled_from(["a", "b", "enabledPlugins", 'with "quotes"', "\\", "ümlaut", ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
STYLES = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {"indent": None},
        {"indent": None, "separators": (",", ":")},
        {"indent": 2, "ensure_ascii": False},
    ]
)
PATHS = st.tuples(NAMES) | st.tuples(NAMES, NAMES)


def with_member(held: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The obvious way to set a member; raises TypeError where something on the way is no object."""
    name, *rest = path
    if not rest:
        return {**held, name: value}
    below = held.get(name, {})
    if not isinstance(below, dict):
        raise TypeError
    return {**held, name: with_member(below, tuple(rest), value)}


@given(OBJECTS, STYLES, PATHS, VALUES)
def test_a_member_is_set_as_in_the_obvious_way(
    held: dict[str, Any], style: dict[str, Any], path: tuple[str, ...], value: Any
) -> None:
    text = json.dumps(held, **style)
    try:
        expected = with_member(held, path, value)
    except TypeError:
        with pytest.raises(ValueError, match="none"):
            set_member(text, path, value)
        return
    found = json.loads(set_member(text, path, value))
    assert found == expected
    assert list(found) == list(expected)


@given(OBJECTS, STYLES, NAMES, VALUES, st.sampled_from(["", "\n", "  \n"]))
def test_dropping_a_new_member_leaves_the_text_as_it_was(
    held: dict[str, Any], style: dict[str, Any], name: str, value: Any, end: str
) -> None:
    held.pop(name, None)
    held = held or {"other": 1}
    text = json.dumps(held, **style) + end
    assert drop_member(set_member(text, [name], value), [name]) == text


@given(OBJECTS, STYLES, PATHS)
def test_dropping_takes_one_member_and_nothing_else(
    held: dict[str, Any], style: dict[str, Any], path: tuple[str, ...]
) -> None:
    text = json.dumps(held, **style)
    expected = json.loads(text)
    inner = expected
    for name in path[:-1]:
        inner = inner.get(name) if isinstance(inner, dict) else None
    if isinstance(inner, dict):
        inner.pop(path[-1], None)
    assert json.loads(drop_member(text, path)) == expected


def test_what_is_around_a_member_stays_letter_for_letter() -> None:
    before = '{ "model":"opus",\n\t"permissions" : {"allow": [ "Bash(ls)" ]},\n'
    text = before + '    "enabledPlugins": {\n      "x@y": true }\n}\n\n'
    after = set_member(text, ["enabledPlugins", "helix@helix"], True)
    assert after == text.replace('"x@y": true }', '"x@y": true,\n      "helix@helix": true }')
    assert drop_member(after, ["enabledPlugins", "helix@helix"]) == text


def test_of_two_members_of_one_name_the_last_is_set_as_it_is_the_one_that_counts() -> None:
    assert json.loads(set_member('{"a": 1, "a": 2}', ["a"], 3)) == {"a": 3}


@pytest.mark.parametrize("text", ["", "[]", "1", '{"a": 1,}', "// words\n{}", '{"a": 1} {}'])
def test_what_is_no_object_of_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        set_member(text, ["a"], 1)
    with pytest.raises(ValueError):
        drop_member(text, ["a"])


@pytest.mark.parametrize("step", ["\t", "  ", "    "])
@pytest.mark.parametrize("first", ["// mine", "/* mine\n   and yours */", ""])
def test_what_is_new_is_indented_as_the_rest_whatever_comes_first(step: str, first: str) -> None:
    text = f'{{\n{step}{first}\n{step}"a": {{\n{step * 2}"b": 1\n{step}}}\n}}\n'
    after = set_member(text, ["c", "d"], 2, comments=True)
    assert after == text[:-3] + f',\n{step}"c": {{\n{step * 2}"d": 2\n{step}}}\n}}\n'


def test_a_step_is_what_an_inner_object_is_further_in_than_its_line() -> None:
    after = set_member('{ "a":\n   { // mine\n      "b": 1 } }', ["a", "c"], {"d": 2}, comments=True)
    assert after.endswith('"b": 1,\n      "c": {\n         "d": 2\n      } } }')


@pytest.mark.parametrize(
    "text",
    [
        "{}" + "/*a" * 100_000,
        '{"a": "' + '"\\' * 100_000,
        '{\n  "a": 1 ' + "/*a*/" * 100 + " }",
        '{\n  "a": 1 /*' + "*" * 100_000 + "/ }",
    ],
    ids=["comments", "strings", "ways", "stars"],
)
def test_what_has_no_end_costs_no_more_than_another(text: str) -> None:
    """A repository brings such files, and whoever connects a client there would wait for hours."""
    try:
        assert parse(set_member(text, ("helix",), 1, comments=True), comments=True)["helix"] == 1
    except ValueError:
        assert '"a": "' in text
