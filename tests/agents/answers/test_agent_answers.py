"""Agents' answers are read with fences, prose, odd keys and missing ends; what breaks a contract is told of."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.answers.builder_answer import Learned, read_builder, read_learned, read_task_metadata
from helix.agents.answers.explorer_answer import ACTIONS, beside_json, merge_explorations, read_explorer, read_explorers
from helix.agents.answers.loose_json import command, values
from helix.agents.answers.planner_answer import CLARIFY, PROCEED, read_planner

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(string.printable, max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(string.printable, max_size=8), inner, max_size=3)
    ),
    max_leaves=10,
)
KEYS = ["scope", "status", "findings", "framework", "memories", "tasks", "decision", "questions", "learned", "seq"]
MARKS = ["DELIVERED:", "BLOCKED:", "UTILIZED:", "LEARNED:", "TASK_MAPPING:", "PLAN_COMPLETE:", "->", "\n", "```", "001"]
OBJECTS = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), ANYTHING, max_size=5).map(json.dumps)
TEXTS = st.text(max_size=100) | st.lists(
    st.sampled_from([*MARKS, "{", "}", "[", '"']) | OBJECTS | st.text(max_size=9)
).map("".join)
ANSWER: dict[str, Any] = {
    "scope": "src/api/",
    "focus": "route handlers",
    "status": "success",
    "findings": [
        {"file": "src/api/main.py", "what": "calls `serve()`", "action": "modify", "task_hint": "routes"},
        {"file": "src/api/models.py", "what": "models", "action": "reference", "task_hint": ""},
    ],
    "framework": {"detected": "FastAPI", "confidence": "HIGH", "evidence": "imports"},
    "patterns_observed": ["dependency injection"],
    "memories": [{"name": "circular-import", "trigger": "auth imports models", "why": "it failed before"}],
}


@given(TEXTS)
def test_no_answer_is_an_error(text: str) -> None:
    assert isinstance(read_explorer(text).problems, tuple)
    assert read_planner(text).decision in ("", PROCEED, CLARIFY)
    assert read_builder(text).outcome in ("", "delivered", "blocked")


@given(st.dictionaries(st.sampled_from([*KEYS, "helix_outcome", "utilized", "summary"]), ANYTHING))
def test_no_metadata_of_a_task_is_an_error(metadata: dict[str, Any]) -> None:
    assert read_task_metadata(metadata).outcome in ("", "delivered", "blocked", "skipped")


@given(ANYTHING.filter(lambda value: isinstance(value, dict | list)), st.text("ab \n", max_size=20))
def test_json_is_found_in_prose(value: Any, prose: str) -> None:
    assert next(values(f"{prose}{json.dumps(value)}{prose}")) == value


@given(ANYTHING.filter(lambda value: isinstance(value, dict) and value), st.data())
def test_of_json_that_breaks_off_what_came_before_is_kept(value: dict[str, Any], data: st.DataObject) -> None:
    whole = json.dumps({"first": "kept", **{f"k{key}": item for key, item in value.items()}})
    cut = data.draw(st.integers(len('{"first": "kept",'), len(whole) - 1))
    found = next(values(whole[:cut]))
    assert found["first"] == "kept"
    assert set(found) <= set(json.loads(whole))


def test_a_list_that_is_whole_is_kept_though_its_object_never_ends() -> None:
    answer = read_planner('```json\n{"decision": "CLARIFY", "questions": ["Which DB, and why?"]\n```')
    assert (answer.decision, answer.questions) == (CLARIFY, ("Which DB, and why?",))


def test_commas_part_no_sentences() -> None:
    assert read_planner("PLAN_COMPLETE: 1\nLEARNED:\n- JWT, as phones keep no cookies").learned == (
        "JWT, as phones keep no cookies",
    )
    assert read_builder("LEARNED: use a pool, not a connection").learned[0].trigger == "use a pool, not a connection"


@pytest.mark.parametrize("text", ["[" * 900 + "1," * 49_000, '{"a":' * 600 + "[1," + '"x",' * 22_000])
def test_what_can_be_read_far_is_tried_few_times(text: str) -> None:
    assert list(values(text)) == []


def test_deep_and_long_nonsense_is_given_up_on() -> None:
    for text in ("[" * 100_000, "{x " * 30_000, '{"' * 50_000, "- " * 50_000):
        assert read_explorer(text).problems


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(ANSWER),
        f"Here is what I found [1]:\n\n```json\n{json.dumps(ANSWER, indent=2)}\n```\nThat is all {{so far}}.",
        json.dumps(ANSWER, indent=1).replace("\n]", ",\n]").replace("patterns_observed", "patternsObserved"),
        json.dumps({"Scope" if key == "scope" else key: value for key, value in reversed(ANSWER.items())}),
        '{"note": "an example first"}\n' + json.dumps(ANSWER),
    ],
    ids=["bare", "fenced", "commas", "keys", "second"],
)
def test_an_explorers_answer_is_read_however_it_is_dressed(written: str) -> None:
    answer = read_explorer(written)
    assert answer.problems == ()
    assert (answer.scope, answer.status, answer.patterns_observed) == ("src/api/", "success", ("dependency injection",))
    assert [finding.file for finding in answer.findings] == ["src/api/main.py", "src/api/models.py"]
    assert answer.framework is not None
    assert (answer.framework.detected, answer.memories[0].name) == ("FastAPI", "circular-import")


def test_what_an_explorer_leaves_out_or_gets_wrong_is_said() -> None:
    answer = read_explorer('{"scope": "src", "findings": [{"what": "x", "action": "burn"}, 3]}')
    assert any("status" in problem for problem in answer.problems)
    assert any("burn" in problem and "modify" in problem for problem in answer.problems)
    assert any("file" in problem for problem in answer.problems)
    assert answer.findings[0].action == ""


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(ACTIONS)), max_size=6))
def test_an_exploration_names_each_file_once_in_order_with_what_asks_most_of_it(found: list[tuple[str, str]]) -> None:
    answers = [
        read_explorer(json.dumps({"scope": "s", "findings": [{"file": f"src/{file}.py", "action": action}]}))
        for file, action in found
    ]
    merged = merge_explorations(answers, "goal")
    told = {one["file"]: one["action"] for one in merged["targets"]["files"]}
    assert list(told) == list(dict.fromkeys(f"src/{file}.py" for file, _ in found))
    assert len(merged["targets"]["files"]) == len(told)
    asks_most = ["modify", "create", "test", "reference"]
    for file, action in told.items():
        said = [other for name, other in found if f"src/{name}.py" == file]
        assert action == min(said, key=asks_most.index)


def test_an_exploration_has_the_form_that_the_planner_is_promised() -> None:
    merged = merge_explorations([read_explorer(json.dumps(ANSWER)), read_explorer("nothing")], "add routes")
    assert merged["objective"] == "add routes"
    assert merged["structure"] == {"directories": ["src/api"], "entry_points": ["src/api/main.py"]}
    assert merged["patterns"] == {"framework": "FastAPI", "idioms": ["dependency injection"]}
    assert [memory["name"] for memory in merged["memory"]["relevant_failures"]] == ["circular-import"]
    assert merged["memory"]["relevant_patterns"] == []
    assert merged["targets"]["functions"] == ["serve"]


PLAN = [
    {"seq": "001", "slug": "models", "objective": "write models", "verify": "pytest", "budget": 5, "delta": ["m.py"]},
    {"seq": 2, "slug": "routes", "objective": "write routes", "verify": "pytest", "budget": 9, "depends": [1]},
]


@pytest.mark.parametrize(
    "mapping",
    [
        "TASK_MAPPING:\n001 -> 11\n002 -> 12\n\nPLAN_COMPLETE: 2 tasks",
        "```\nTASK_MAPPING:\n001 -> 11\n002 -> 12\n```\nPLAN_COMPLETE: 2 tasks",
        "**Task mapping:**\n- `1` → `11`\n- 2 => 12\nPlan complete: 2",
    ],
)
def test_a_plan_is_read_with_its_mapping(mapping: str) -> None:
    answer = read_planner(f'{{"decision": "proceed"}}\n```json\n{json.dumps(PLAN)}\n```\n{mapping}')
    assert answer.problems == ()
    assert (answer.decision, dict(answer.mapping), answer.announced) == (PROCEED, {"001": "11", "002": "12"}, 2)
    assert [(task.seq, task.depends) for task in answer.tasks] == [("001", ()), ("002", ("001",))]


def test_questions_are_a_plan_not_made_yet() -> None:
    answer = read_planner(
        'First I must know:\n{"decision": "CLARIFY", "questions": ["Which database?", "Which port?"]}'
    )
    assert (answer.decision, answer.questions, answer.problems) == (CLARIFY, ("Which database?", "Which port?"), ())


def test_a_plan_that_cannot_be_worked_is_told_of() -> None:
    tasks = [
        {"seq": "1", "objective": "a", "verify": "v", "budget": 5, "depends": ["2"]},
        {"seq": "2", "objective": "b", "verify": "v", "budget": 50, "depends": ["1", "9"]},
    ]
    told = " / ".join(read_planner(json.dumps({"tasks": tasks}) + "\nPLAN_COMPLETE: 3 tasks").problems)
    assert "001 -> 002 -> 001" in told
    assert "budget of task 002 is 50" in told
    assert "waits for 009" in told
    assert "TASK_MAPPING" in told


def test_a_delivery_is_read() -> None:
    answer = read_builder("Some prose.\n\n**DELIVERED:** Added /login\nUTILIZED: [auth-fail [75%], jwt-pattern]\n")
    assert (answer.outcome, answer.summary, answer.problems) == ("delivered", "Added /login", ())
    assert answer.utilized == ("auth-fail", "jwt-pattern")


def test_a_block_is_read_with_what_was_tried_and_the_error() -> None:
    answer = read_builder("blocked: no access to main.py\ntried: a\nb\nerror: ImportError: x\nutilized: none")
    assert (answer.outcome, answer.reason, answer.tried) == ("blocked", "no access to main.py", "a\nb")
    assert (answer.error, answer.utilized, answer.problems) == ("ImportError: x", (), ())


def test_the_last_of_two_outcomes_counts() -> None:
    assert read_builder("DELIVERED: half\nBLOCKED: the other half\nTRIED: x\nERROR: y").outcome == "blocked"


@pytest.mark.parametrize("other", ["BLOCKED: none", "BLOCKED:", "Blocked: n/a", "BLOCKED: <reason>", "BLOCKED: -"])
def test_an_outcome_that_says_nothing_does_not_outweigh_one_that_does(other: str) -> None:
    answer = read_builder(f"DELIVERED: added it\n{other}\nUTILIZED: []")
    assert (answer.outcome, answer.summary) == ("delivered", "added it")
    assert read_builder(f"{other}\nDELIVERED: added it").outcome == "delivered"
    assert read_builder(other).outcome == "blocked"


@pytest.mark.parametrize("none", ["none", "None used", "[]", "", "- none", "n/a"])
def test_no_memories_used_are_no_names(none: str) -> None:
    assert read_builder(f"DELIVERED: x\nUTILIZED: {none}").utilized == ()


def test_what_a_builder_leaves_out_is_said() -> None:
    assert "there is neither DELIVERED nor BLOCKED" in read_builder("I am done.").problems
    assert {"TRIED says nothing", "UTILIZED is missing"} <= set(read_builder("BLOCKED: no").problems)


@pytest.mark.parametrize(
    "written",
    [
        [{"type": "pattern", "trigger": "tests hang", "resolution": "run them with -x"}],
        '[{"type": "pattern", "trigger": "tests hang", "resolution": "run them with -x"}]',
        "pattern: tests hang -> run them with -x",
        ["**pattern**: tests hang => run them with -x"],
    ],
)
def test_what_was_learned_is_read_however_it_is_written(written: object) -> None:
    assert read_learned(written) == (Learned(kind="pattern", trigger="tests hang", resolution="run them with -x"),)


def test_the_metadata_of_a_task_says_what_its_last_message_would() -> None:
    answer = read_task_metadata({"helix_outcome": "Blocked", "blocked_reason": "no", "tried": "x", "error": "y"})
    assert (answer.outcome, answer.reason, answer.tried, answer.error) == ("blocked", "no", "x", "y")
    assert read_task_metadata({"helix_outcome": "great"}).problems


@pytest.mark.parametrize("mark", ["#", "##", "###"])
def test_a_heading_without_a_colon_is_a_name_too(mark: str) -> None:
    answer = read_builder(f"{mark} DELIVERED\nthe limit is 2 MB\n\n{mark} Utilized\n- body-limit\n")
    assert (answer.outcome, answer.summary, answer.utilized) == ("delivered", "the limit is 2 MB", ("body-limit",))


def test_what_is_told_in_one_line_is_read_as_if_each_stood_on_its_own() -> None:
    answer = read_builder("DELIVERED: the limit is 2 MB. UTILIZED: [body-limit]")
    assert (answer.summary, answer.utilized) == ("the limit is 2 MB.", ("body-limit",))
    answer = read_builder("**BLOCKED**: no server; **TRIED**: a free port | UTILIZED: []\nERROR: pytest UTILIZED: 3")
    assert (answer.reason, answer.tried, answer.utilized) == ("no server", "a free port", ())
    assert answer.error == "pytest UTILIZED: 3"


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.sampled_from(["\n", " and ", "list"]))
def test_the_answers_of_several_explorers_are_all_read(files: list[str], between: str) -> None:
    said = [{**ANSWER, "findings": [{"file": file, "what": "w", "action": "test"}]} for file in files]
    text = json.dumps(said) if between == "list" else between.join(map(json.dumps, said))
    assert [one.findings[0].file for one in read_explorers(text)] == files


def test_what_stands_beside_json_is_found_without_what_introduces_it() -> None:
    text = 'Here is what I found in it:\n```json\n{"a": 1}\n```\nand then:\n{"b": 2}\nThe fourth one answers in prose.'
    assert beside_json(text) == ("The fourth one answers in prose.",)
    assert beside_json('{"a": 1}') == ()


def test_spaces_behind_code_are_not_tried_in_all_ways() -> None:
    """Some ten thousand took minutes of the whole daemon, as nothing else of Python runs meanwhile."""
    assert command(f"`make`{' ' * 200_000}and{' ' * 200_000}then `make check`") == "make && make check"
    assert command(f"`make`{' ' * 200_000}for once") == "make"


@pytest.mark.parametrize("mark", ["=", "-_", "(", "[", "a & ", " "])
def test_a_row_of_signs_without_end_is_read_in_the_time_that_its_length_takes(mark: str) -> None:
    """A quadratic reading of it held the interpreter for hours."""
    said = mark * 1_000_000 + "x"
    read = read_task_metadata({"helix_outcome": "delivered", "utilized": said, "summary": said})
    assert read.outcome == "delivered"
    assert sum(map(len, (*read.utilized, read.summary))) < 50_000
    assert read_builder(f"DELIVERED: x\nUTILIZED: {said}").outcome == "delivered"
