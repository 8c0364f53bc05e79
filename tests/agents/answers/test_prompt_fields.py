"""Fields of prompts are read in whatever order, case and dress, and nothing that is written there is an error."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.answers.prompt import (
    FIELDS,
    NAMES,
    AgentType,
    detect_agent_type,
    extract_builder_params,
    extract_explorer_params,
    extract_planner_params,
    parse_prompt,
    should_inject,
)

LINES = st.text(st.characters(codec="utf-8", exclude_characters="\n\r:"), max_size=30)
PIECES = st.sampled_from(
    [*sorted(NAMES), ":", "\n", "```", "{", "}", "[", "]", '"', ",", "\\", "- ", "**", "  ", "true"]
)
PROMPTS = st.text(max_size=200) | st.lists(PIECES | LINES, max_size=40).map("".join)
VALUES = st.text("abcxyz/._ ", min_size=1, max_size=20).map(str.strip).filter(bool)


@given(PROMPTS)
def test_no_prompt_is_an_error(prompt: str) -> None:
    assert parse_prompt(prompt).fields.keys() <= NAMES
    assert detect_agent_type(prompt) in (None, *AgentType)
    assert isinstance(should_inject(prompt), bool)
    for extract in (extract_explorer_params, extract_planner_params):
        extract(prompt)
    assert 0 <= extract_builder_params(prompt).memory_limit <= 20


@given(st.dictionaries(st.sampled_from(sorted(NAMES)), VALUES, min_size=1), st.randoms(), st.data())
def test_neither_order_nor_case_nor_dress_of_fields_matters(
    fields: dict[str, str], chance: object, data: st.DataObject
) -> None:
    dresses = ["{0}: {1}", "**{0}:** {1}", "**{0}**: {1}", "- {0}: {1}", "## {0}:\n{1}", "{0}:\n\n{1}\n", "`{0}`: {1}"]
    said = []
    for name in data.draw(st.permutations(sorted(fields))):
        written = data.draw(st.sampled_from([name, name.lower(), name.title(), name.replace("_", " ")]))
        said.append(data.draw(st.sampled_from(dresses)).format(written, fields[name]))
    assert dict(parse_prompt("\n".join(said)).fields) == fields


@given(st.dictionaries(st.sampled_from(sorted(NAMES)), VALUES, min_size=1))
def test_prose_before_the_fields_and_lines_within_them_change_nothing(fields: dict[str, str]) -> None:
    prompt = "Please read this first.\n\n" + "\n".join(f"{name}: {value}\nand more" for name, value in fields.items())
    assert dict(parse_prompt(prompt).fields) == {name: f"{value}\nand more" for name, value in fields.items()}


def test_names_in_code_and_in_indented_lines_are_text() -> None:
    prompt = 'OBJECTIVE: real\nEXPLORATION:\n```json\n{\n"scope": 1,\nSCOPE: 2\n}\n```\nTASK:\n  verify: not a field\n'
    assert set(parse_prompt(prompt).fields) == {"OBJECTIVE", "EXPLORATION", "TASK"}


def test_a_prompt_that_is_one_code_block_or_indented_as_a_whole_is_read_too() -> None:
    assert parse_prompt("```\nSCOPE: src\nFOCUS: routes\n```").get("SCOPE") == "src"
    assert parse_prompt("    SCOPE: src\n    FOCUS: routes").get("FOCUS") == "routes"


def test_a_name_in_capitals_is_not_taken_for_the_same_word_in_prose() -> None:
    asked = parse_prompt("TASK: write it\nVerify: by hand, at first\nVERIFY: pytest -q")
    assert dict(asked.fields) == {"TASK": "write it\nVerify: by hand, at first", "VERIFY": "pytest -q"}


def test_a_fence_around_fields_is_no_code() -> None:
    asked = parse_prompt("OBJECTIVE: a login\n```text\nSCOPE: src\nFOCUS: routes\n```\n")
    assert dict(asked.fields) == {"OBJECTIVE": "a login", "SCOPE": "src", "FOCUS": "routes"}


def test_a_second_heading_of_the_same_name_belongs_to_the_field_it_stands_in() -> None:
    asked = parse_prompt("OBJECTIVE: first\nEXPLORATION: found\nOBJECTIVE: second\nmore")
    assert dict(asked.fields) == {"OBJECTIVE": "first", "EXPLORATION": "found\nOBJECTIVE: second\nmore"}


@pytest.mark.parametrize("agent", list(AgentType))
def test_a_prompt_with_the_fields_of_an_agent_is_for_that_agent(agent: AgentType) -> None:
    prompt = "\n".join(f"{name}: something" for name in FIELDS[agent])
    assert detect_agent_type(prompt) is agent
    assert detect_agent_type(prompt, "general-purpose") is agent


@pytest.mark.parametrize("name", ["builder", "helix:builder", "helix:helix-builder", "Builder"])
def test_the_name_of_an_agent_says_which_it_is_whatever_its_prompt(name: str) -> None:
    assert detect_agent_type("SCOPE: src\nFOCUS: x", name) is AgentType.BUILDER


def test_one_word_of_prose_does_not_make_another_agent_one_of_ours() -> None:
    assert detect_agent_type("Task: tidy up", "general-purpose") is None
    assert detect_agent_type("Tidy up the folder, please.") is None


@pytest.mark.parametrize(
    ("line", "inject"),
    [
        ("NO_INJECT: true", False),
        ("no_inject: TRUE", False),
        ("- **NO_INJECT:** yes", False),
        ("  NO_INJECT", False),
        ("NO_INJECT: false", True),
        ("Speak of NO_INJECT: true within a sentence", True),
        ("", True),
    ],
)
def test_no_inject_is_honoured(line: str, inject: bool) -> None:
    assert should_inject(f"TASK: x\n{line}\nVERIFY: y") is inject


def test_a_builder_is_asked_what_its_prompt_says() -> None:
    lineage = [{"seq": "001", "slug": "setup", "delivered": "a service"}]
    asked = extract_builder_params(
        f"TASK_ID: 7\nTASK: 002: routes\nOBJECTIVE: add routes\nVERIFY: `pytest -q`\n"
        f"RELEVANT_FILES:\n- a.py\n- `b/c.py`\nLINEAGE: {json.dumps(lineage)}\nWARNING: circles\nMEMORY_LIMIT: 3"
    )
    assert (asked.task_id, asked.objective, asked.verify) == ("7", "add routes", "pytest -q")
    assert (asked.relevant_files, asked.lineage) == (("a.py", "b/c.py"), tuple(lineage))
    assert (asked.warning, asked.memory_limit) == ("circles", 3)


@pytest.mark.parametrize(
    "files", ["a.py, b.py", '["a.py", "b.py"]', "- a.py\n- b.py", "1. a.py\n2. b.py", "[a.py, b.py]"]
)
def test_lists_are_read_however_they_are_written(files: str) -> None:
    assert extract_builder_params(f"RELEVANT_FILES: {files}").relevant_files == ("a.py", "b.py")


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        *(("0", 0), ("3", 3), ("at most 7 please", 7), ("20", 20), ("21", 20), ("500", 20), ("1234567", 20)),
        *(("-3", 5), ("\u22123", 5), ("-35", 5), ("many", 5), ("", 5)),
    ],
)
def test_a_memory_limit_is_between_none_and_twenty_and_five_where_it_is_no_number(said: str, limit: int) -> None:
    assert extract_builder_params(f"TASK: x\nMEMORY_LIMIT: {said}\nVERIFY: pytest").memory_limit == limit


def test_of_a_field_that_stands_twice_the_first_text_counts_and_no_other_field_gets_the_second() -> None:
    asked = parse_prompt("TASK: first\nTASK: second\nVERIFY: pytest\nTASK: third\nWARNING: mind")
    assert dict(asked.fields) == {"TASK": "first", "VERIFY": "pytest", "WARNING": "mind"}
