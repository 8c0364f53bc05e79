"""Holds that any settings file, however it is written, gets its entry and is given back byte for byte."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from helix.client_settings.settings_file import FORMATS, Memo, SettingsEntry, put, take_back
from helix.errors import ConfigError
from tests.sampling import draws

HOOK = {"command": "python3 /there/helix_hook.py"}
ENTRIES = {
    "json": [
        SettingsEntry(path=("mcpServers", "helix"), value={"command": "/bin/helix", "args": ["mcp"]}),
        SettingsEntry(path=("version",), value=1, kept=True),
        SettingsEntry(path=("hooks", "Stop"), value=HOOK, item=True),
    ],
    "toml": [SettingsEntry(path=("mcp_servers", "helix"), value={"command": 'C:\\a "b"', "args": ["mcp", "ä"]})],
    "yaml": [
        SettingsEntry(path=("extensions", "helix"), value={"enabled": True, "cmd": "/bin/helix", "args": ["mcp"]})
    ],
    "marked": [SettingsEntry(path=("helix",), value="## Memory\n\nAsk it.")],
}
ENTRIES["jsonc"] = ENTRIES["json"]
WORDS = st.sampled_from(["a", "ümlaut", "two words", "//x", "/* y */", "#z", 'q"q', "[t]", "b\\c"])
OTHERS = st.fixed_dictionaries(
    {},
    optional={
        "model": WORDS,
        "mcpServers": st.dictionaries(WORDS, st.fixed_dictionaries({"command": WORDS}), max_size=2),
        "hooks": st.dictionaries(
            st.sampled_from(["Stop", "Start"]),
            st.lists(st.fixed_dictionaries({"command": WORDS}), max_size=2),
            max_size=2,
        ),
        "deep": st.recursive(
            WORDS | st.booleans() | st.integers(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
            max_leaves=6,
        ),
    },
)
ENDS = st.sampled_from(["", "\n", "\n\n", "  \n\t\n"])
DIALECT = st.tuples(st.booleans(), st.booleans())


@st.composite
def json_texts(draw: st.DrawFn, *, comments: bool) -> str:
    """A file of JSON in some style, with comments and trailing commas where it may have them."""
    held = draw(OTHERS)
    text = json.dumps(held, indent=draw(st.sampled_from([None, 1, 2, 4, "\t"])), ensure_ascii=draw(st.booleans()))
    if comments:
        chosen = st.sampled_from(["", "", " // why", " /* so */", ' // a, "b": {', "\n  // own line"])
        marks = itertools.islice(iter(lambda: draw(chosen), None), 40)
        lines = [line + (next(marks, "") if "\n" in text else "") for line in text.split("\n")]
        text = "\n".join([*lines[:-1], lines[-1].split(" //")[0].split("\n")[0]]) if len(lines) > 1 else text
        if draw(st.booleans()) and held:
            closing = text.rindex("}")
            before = text[:closing].rstrip()
            if "//" not in before.rpartition("\n")[2] and not before.endswith(("{", "*/")):
                text = before + "," + text[len(before) :]
        text = draw(st.sampled_from(["", "// head\n", "/* head\n */ "])) + text
    return text + draw(ENDS)


TOML_LINES = st.sampled_from(
    [
        "model = 'a'  # why",
        '[mcp_servers.other]\ncommand = "[mcp_servers.helix]"',
        "[mcp_servers]\n# nothing here\n",
        '[profiles."x.y"]\ntext = """\n[mcp_servers.helix]\n"""',
        "list = [\n  [1, 2], # [x]\n  [3],\n]",
        "[[hooks]]\nname = 'one'\n",
        "# a comment\n",
        "",
    ]
)
YAML_LINES = st.sampled_from(
    [
        "GOOSE_MODEL: gpt  # why",
        "extensions:\n  developer:\n    enabled: true\n    type: builtin",
        "extensions:\n    far:\n        args: [a, 'b']   # flow\n",
        "extensions: {}",
        "extensions: {developer: {enabled: true}}",
        "extensions:",
        "extensions:\n# at the margin\n  x:\n    envs:\n    - a\n    - b\n",
        "text: |\n  extensions:\n    helix: no\n",
        "extensions: &own\n  far:\n    args: &more\n    - a\n    - &b b",
        "base: &base {enabled: true}\nextensions:\n  far: *base\n  list:\n  - *base",
        "base: &base\n  enabled: true\nextensions: *base",
        "base: &base\n  enabled: true\nextensions:\n  <<: *base",
        "# a comment",
        "",
        "---",
    ]
)
PROSE = st.sampled_from(["# Rules", "", "- be kind", "<!-- note -->", "```\ncode\n```"])


def texts(form: str) -> st.SearchStrategy[str]:
    if form in ("json", "jsonc"):
        return json_texts(comments=form == "jsonc")
    lines = {"toml": TOML_LINES, "yaml": YAML_LINES, "marked": PROSE}[form]
    return st.builds(lambda found, end: "\n".join(found) + end, st.lists(lines, max_size=5), ENDS)


def parsed(form: str, text: str) -> dict[str, Any] | None:
    try:
        return FORMATS[form].parse(text.removeprefix("\ufeff"))
    except ValueError:
        return None


def at(held: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        held = held.get(name) if isinstance(held, dict) else None
    return held


def written(path: Path, text: str, *, crlf: bool = False, mark: bool = False) -> bytes:
    path.write_bytes((("\ufeff" if mark else "") + (text.replace("\n", "\r\n") if crlf else text)).encode())
    return path.read_bytes()


@pytest.mark.parametrize("form", sorted(ENTRIES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much], deadline=None)
@given(data=st.data(), dialect=DIALECT)
def test_any_file_gets_its_entries_once_and_is_given_back_byte_for_byte(
    tmp_path: Path, form: str, data: st.DataObject, dialect: tuple[bool, bool]
) -> None:
    path = tmp_path / "settings"
    text = data.draw(texts(form))
    assume((before := parsed(form, text)) is not None)
    original = written(path, text, crlf=dialect[0], mark=dialect[1])
    try:
        change, memo = put("codex", path, form, ENTRIES[form])
    except ConfigError as refused:
        assert form in ("toml", "yaml"), refused  # what cannot be edited safely is refused and left alone
        assert path.read_bytes() == original
        return
    change.write()
    after = parsed(form, path.read_text("utf-8"))
    for entry in ENTRIES[form]:
        there = at(after, entry.path)
        assert (there[-1] if entry.item else there) == entry.value
    others = {name for name in before or {} if name not in {entry.path[0] for entry in ENTRIES[form]}}
    assert {name: (after or {}).get(name) for name in others} == {name: (before or {})[name] for name in others}
    again, same = put("codex", path, form, ENTRIES[form], memo)
    assert again.is_none
    assert same == memo
    take_back(Memo.from_json(json.loads(json.dumps(memo.as_json())))).write()
    assert path.read_bytes() == original


@pytest.mark.parametrize("form", ["json", "jsonc", "toml", "yaml", "marked"])
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
    deadline=None,
    max_examples=draws(10),
)
@given(data=st.data())
def test_what_somebody_changed_elsewhere_in_between_stays(tmp_path: Path, form: str, data: st.DataObject) -> None:
    """The same edit before and after connecting comes to the same file once it is disconnected."""
    path = tmp_path / "settings"
    first = {"json": "{", "jsonc": "{"}.get(form, "")
    text = data.draw(texts(form))
    edits = {
        "json": '{\n"first": [1],',
        "jsonc": '{ // mine\n"first": [1,],',
        "yaml": "first: 1\n",
        "toml": "first = 1\n",
    }
    edit = edits.get(form, "# First\n")
    assume(form != "jsonc" or text.startswith("{"))
    assume(
        (parsed(form, text) is not None and at(parsed(form, text), ("model",)) is not None)
        or form not in ("json", "jsonc")
    )
    edited = edit + text.removeprefix(first)
    assume(parsed(form, edited) is not None)
    written(path, text)
    try:
        change, memo = put("codex", path, form, ENTRIES[form])
    except ConfigError:
        return
    change.write()
    now = path.read_text("utf-8")
    written(path, edit + now.removeprefix(first))
    take_back(memo).write()
    assert parsed(form, path.read_text("utf-8")) == parsed(form, edited)
    if "\n" in text.strip():
        assert path.read_text("utf-8") == edited


@pytest.mark.parametrize("form", sorted(ENTRIES))
def test_a_file_that_there_was_not_is_gone_again(tmp_path: Path, form: str) -> None:
    path = tmp_path / "folder" / "settings"
    change, memo = put("codex", path, form, ENTRIES[form])
    change.write()
    assert path.stat().st_mode & 0o077 == 0
    take_back(memo).write()
    assert not path.parent.exists()


@pytest.mark.parametrize("form", sorted(ENTRIES))
def test_a_file_that_the_client_wrote_anew_loses_our_entries_alone(tmp_path: Path, form: str) -> None:
    """As clients do that write their settings themselves: in another order and style, without comments."""
    path = tmp_path / "settings"
    others = {"json": '{"a": 1}', "jsonc": '{"a": 1}', "toml": "a = 1\n", "yaml": "a: 1\n", "marked": "# A\n"}[form]
    written(path, others)
    change, memo = put("codex", path, form, ENTRIES[form])
    change.write()
    anew = {
        "toml": '[mcp_servers.helix]\nargs = ["mcp"]\n\n[mcp_servers.helix.env]\nA = "b"\n\n[z]\na = 1\n',
        "yaml": "z: 1\nextensions:\n  helix:\n    cmd: x\n    args:\n    - mcp\na: 1\n",
        "marked": path.read_text("utf-8").replace("Ask it.", "Never mind.") + "\nmore\n",
    }
    held = {"z": [2], **(parsed(form, change.after or "") or {})}
    written(path, anew.get(form, json.dumps(held, indent=3)))
    take_back(memo).write()
    left = parsed(form, path.read_text("utf-8"))
    expected = {"toml": {"z": {"a": 1}}, "yaml": {"z": 1, "a": 1}, "marked": {"rest": "# A\n\nmore"}}
    assert left == expected.get(form, {"z": [2], "a": 1})


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("jsonc", '{ // mine\n  "mcpServers": [\n}'),
        ("toml", "model = \n"),
        ("toml", "mcp_servers = { other = { command = 'x' } }\n"),
        ("yaml", "extensions: [developer]\n"),
        ("yaml", "a: b: c\n"),
        ("yaml", "- a\n"),
        ("yaml", "extensions: &mine\n  helix: *mine\n"),
        ("yaml", "base: &base\n  a: 1\nextensions: *base\n"),
        ("marked", "<!-- helix: end -->\n<!-- helix: begin -->\n"),
    ],
)
def test_what_cannot_be_edited_is_refused_by_name_and_left_alone(tmp_path: Path, form: str, text: str) -> None:
    path = tmp_path / "settings"
    written(path, text)
    with pytest.raises(ConfigError, match="settings") as refused:
        put("codex", path, form, ENTRIES[form])
    assert "nothing was changed" in str(refused.value.hint)
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("text", "indent"),
    [
        ("extensions: &mine\n  far:\n    on: true\n", "  "),
        ("a: &a 1\nextensions:\n  list:\n    - b\n    - *a\n", "  "),
        ("extensions: !!map\n    far: {on: true}\n", "    "),
    ],
)
def test_a_yaml_file_with_anchors_and_aliases_gets_its_entry(text: str, indent: str) -> None:
    after = FORMATS["yaml"].put(text, SettingsEntry(path=("extensions", "helix"), value={"on": True}))
    assert after == f'{text}{indent}helix:\n{indent}  "on": true\n'.replace('"on": true\n', "on: true\n")


def test_a_comment_behind_the_last_member_stays_with_it() -> None:
    text = '{\n  "a": 1, // one\n  "b": 2 // two\n}\n'
    entry = SettingsEntry(path=("c",), value=3)
    assert FORMATS["jsonc"].put(text, entry) == '{\n  "a": 1, // one\n  "b": 2, // two\n  "c": 3\n}\n'
