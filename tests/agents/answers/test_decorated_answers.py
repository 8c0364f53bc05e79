"""Answers are read alike in every dress that models give them, and prose that only speaks of their words is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.answers.builder_answer import BuilderAnswer, Learned, read_builder, read_learned
from helix.agents.answers.explorer_answer import beside_json
from helix.agents.answers.planner_answer import CLARIFY, PROCEED, read_planner
from helix.agents.answers.prompt import extract_builder_params, should_inject

LEADS = st.sampled_from(
    [
        *(
            "",
            "- ",
            "* ",
            "+ ",
            "• ",
            "1. ",
            "2) ",
            "# ",
            "### ",
            "✅ ",
            "❌ ",
            "👉",
            "## 🚀 ",
            "1️⃣ ",
            "③ ",
            "- [x] ",
            "— ",
        ),
        *(":white_check_mark: ", "- **", "✅ **", "1. **"),
    ]
)
STRESS = st.sampled_from(["", "**", "__", "*", "`", "***"])
COLONS = st.sampled_from([":", " :", "\uff1a"])
BETWEEN = st.sampled_from(["\n", "\n\n", "\n---\n", "\n\n***\n\n"])
WORDS = st.sampled_from(
    ["the limit is 2 MB", "a key is missing", "サーバーが起動しない", "tests/a.py: 3 passed", "größer"]
)
NAMES = st.lists(st.sampled_from(["body-limit", "jwt", "e2e_first", "a.b"]), max_size=3, unique=True)
FORMS = ("field", "colon_within", "all_within", "heading", "stressed", "row")


@st.composite
def lines(draw: st.DrawFn, name: str, value: str, forms: tuple[str, ...] = FORMS) -> str:
    """A field as a model may write it."""
    form, stress, colon = draw(st.sampled_from(forms)), draw(STRESS), draw(COLONS)
    if form == "row":
        return f"| {stress}{name}{stress} | {value} |"
    name = draw(st.sampled_from([name, name.lower(), name.title(), name.replace("_", " "), name.replace("_", "\\_")]))
    if form == "heading":
        return f"{draw(st.sampled_from(['# ', '### ', '## ✅ ', '🚀 ', '##### **']))}{name}\n\n{value}"
    if form == "stressed":
        return f"{draw(st.sampled_from(['', '- ', '1. ']))}**{name}**\n{value}"
    lead = draw(LEADS)
    if lead.endswith("**"):
        return f"{lead}{name}{colon}** {value}" if form != "all_within" else f"{lead}{name}{colon} {value}**"
    if form == "field":
        return f"{lead}{stress}{name}{stress}{colon} {value}"
    if form == "colon_within":
        return f"{lead}{stress}{name}{colon}{stress} {value}"
    return f"{lead}{stress}{name}{colon} {value}{stress}"


@st.composite
def listed(draw: st.DrawFn, names: list[str]) -> str:
    """Names of memories as models copy them, in one line."""
    labels = [draw(st.sampled_from(["{}", "[75%] {}", "[unproven] {}", "{} [100%]", "`{}`", "{} (helped a lot)"]))]
    said = [label.format(name) for name, label in zip(names, labels * len(names), strict=False)]
    if not said:
        return draw(st.sampled_from(["[]", "none", "None used.", "n/a", "-"]))
    between = " and " if len(said) == 2 and labels == ["{}"] and draw(st.booleans()) else ", "
    form = draw(st.sampled_from(["{}", "[{}]", "[{}]. It told me to run make."])) if between == ", " else "{}"
    return form.format(between.join(said)) if "told" not in form or labels == ["{}"] else between.join(said)


@st.composite
def wrapped(draw: st.DrawFn, text: str) -> str:
    """A text with an introduction, in a fence, as a quotation, or with other line ends."""
    form = draw(
        st.sampled_from(["{}", "I ran everything twice.\n\n{}", "```\n{}\n```", "Here it is:\n\n```text\n{}\n```"])
    )
    text = form.format(text)
    if draw(st.booleans()) and "```" not in text:
        text = "\n".join(f"> {line}" for line in text.split("\n"))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(st.data(), WORDS, NAMES)
def test_a_delivery_is_read_alike_in_any_dress(data: st.DataObject, summary: str, names: list[str]) -> None:
    said = [data.draw(lines("DELIVERED", summary)), data.draw(lines("UTILIZED", data.draw(listed(names))))]
    answer = read_builder(data.draw(wrapped(data.draw(BETWEEN).join(data.draw(st.permutations(said))))))
    assert (answer.outcome, answer.summary, answer.utilized) == ("delivered", summary, tuple(names))


@given(st.data(), WORDS, WORDS, WORDS, NAMES)
def test_a_block_is_read_alike_in_any_dress(
    data: st.DataObject, reason: str, tried: str, error: str, names: list[str]
) -> None:
    values = {"BLOCKED": reason, "TRIED": tried, "ERROR": error, "UTILIZED": data.draw(listed(names))}
    said = [data.draw(lines(name, value)) for name, value in values.items()]
    answer = read_builder(data.draw(wrapped(data.draw(BETWEEN).join(data.draw(st.permutations(said))))))
    assert answer == BuilderAnswer(
        outcome="blocked", reason=reason, tried=tried, error=error, utilized=tuple(names), problems=answer.problems
    )
    assert answer.problems == ()


@pytest.mark.parametrize(
    "said",
    [
        *(
            "DELIVERED\n\nthe limit",
            "**DELIVERED.**\n\nthe limit",
            "DELIVERED \u2013 the limit",
            "DELIVERED\u2014the limit",
        ),
        *("DELIVERED - the limit", "**Status: DELIVERED**\nthe limit", "Outcome: ✅ **Delivered** - the limit"),
        *(
            "helix_outcome: delivered\nthe limit",
            "| Status | DELIVERED |\n|---|---|\n",
            "Ergebnis: DELIVERED\nthe limit",
        ),
        *("## DELIVERED ##\nthe limit", "DELIVERED\n=========\nthe limit", "✅ DELIVERED ✅: the limit"),
    ],
)
def test_an_outcome_may_stand_alone_behind_a_label_or_before_a_dash(said: str) -> None:
    answer = read_builder(said)
    assert (answer.outcome, answer.summary) in (("delivered", "the limit"), ("", ""))
    assert answer.outcome == "delivered" or said.startswith("|")


SPEAKING_OF_IT = (
    *("the task was {} late", "{} by the firewall until noon", "We were {}: the key was missing at first", "{}/x"),
    *('"{}: x"', "({}: x)", "“{}: x”", "see `end with {}: x` in the docs", "// {}: x", "$ echo {}: x", "not {}: x"),
    *("Status: {} late", "Status: {} / skipped", "+{}: x", "-{}: x", "~~{}: x~~", "- [ ] {}: x", "- {}", "{} or not"),
    *("A task is {} when its command ends with 0.", "{}::x", "| a | {} | c |", "| {} | COUNT |\n|---|---|\n| 1 | 2 |"),
    *(
        "The answer ends with:\n```\n{}: x\nUTILIZED: []\n```\nI am not there yet.",
        "1. {}",
        "> I said\n> {}: x\n\nMore.",
    ),
    *("The file says:\n\n    {}: x\n\nI read on.", "<{}>: x", "/* {}: x */", "key = '{}: x'", "{}, I think: no"),
)


@given(st.lists(st.sampled_from(SPEAKING_OF_IT), min_size=1, max_size=4), st.sampled_from(["DELIVERED", "BLOCKED"]))
def test_prose_that_speaks_of_an_outcome_claims_none(said: list[str], word: str) -> None:
    for written in (word, word.lower(), word.title()):
        text = "I looked at it.\n\n" + "\n\n".join(one.format(written) for one in said) + "\n\nI go on."
        assert read_builder(text).outcome == "", text


@given(st.sampled_from(SPEAKING_OF_IT), st.booleans(), st.data())
def test_what_is_quoted_does_not_outweigh_what_is_said(quoted: str, before: bool, data: st.DataObject) -> None:
    own, other = data.draw(lines("DELIVERED", "the limit", ("field", "colon_within"))), quoted.format("BLOCKED")
    answer = read_builder(f"{other}\n\n{own}" if before else f"{own}\n\n{other}")
    assert (answer.outcome, answer.summary) == ("delivered", "the limit")


def test_an_outcome_in_small_letters_is_prose_beside_one_in_capitals() -> None:
    answer = read_builder("DELIVERED: the limit\n\nBlocked: for an hour, by a cache.\nUTILIZED: []")
    assert (answer.outcome, answer.summary) == ("delivered", "the limit")


@pytest.mark.parametrize(
    "text", ["- " * 40_000, "|" * 90_000, "[50% " * 19_000, "✅" * 90_000, "**" * 45_000, "\n" * 90_000]
)
def test_nonsense_in_bulk_is_read_in_no_time_worth_speaking_of(text: str) -> None:
    assert read_builder(f"UTILIZED: {text}").outcome == ""
    assert read_planner(f"TASK_MAPPING: {text}").mapping == {}


def test_blanks_in_bulk_are_read_in_no_time_worth_speaking_of() -> None:
    blanks = " \t" * 200_000
    assert read_builder(f"DELIVERED: the tank is full{blanks}").summary == "the tank is full"
    assert beside_json('{"scope": "x"} ' + f"so we looked into it: a{blanks}b") == ("so we looked into it: a b",)


@pytest.mark.parametrize(
    "nothing",
    [
        "- nothing worth keeping",
        "Nothing new.",
        "- none",
        "No new learnings",
        "nothing to report this time",
        "**None**",
    ],
)
def test_to_have_learned_nothing_is_no_lesson(nothing: str) -> None:
    assert read_learned(nothing) == ()
    assert read_learned("nothing is cached between runs") == (Learned(trigger="nothing is cached between runs"),)


def test_a_table_of_lessons_is_read_by_its_rows() -> None:
    table = "| kind | when | then |\n|:---|---|---|\n| pattern | the limit changes | restart |\n| failure | `a` | b |"
    assert read_learned(table) == (
        Learned(kind="pattern", trigger="the limit changes", resolution="restart"),
        Learned(kind="failure", trigger="a", resolution="b"),
    )
    assert read_learned("| tests hang | use -x |") == (Learned(trigger="tests hang", resolution="use -x"),)


SEQS = st.sampled_from(["{}", "`{}`", "**{}**", "Task {}", "#{}", "{}: docs", "{} (docs)"])
IDS = st.sampled_from(["{}", "#{}", "Task {}", "task #{}", "`{}`", "**#{}**", "Task #{}: docs", "{} (created)", '"{}"'])


@given(st.dictionaries(st.integers(1, 40), st.integers(1, 99), min_size=1, max_size=5), st.data())
def test_a_mapping_is_read_alike_in_any_dress(pairs: dict[int, int], data: st.DataObject) -> None:
    arrow = data.draw(st.sampled_from(["->", "-->", "=>", "→", "⇒"]))
    said = [(data.draw(SEQS).format(f"{seq:03}"), data.draw(IDS).format(task)) for seq, task in pairs.items()]
    form = data.draw(st.sampled_from(["{0} {2} {1}", "- {0} {2} {1}", "1. {0} {2} {1}", "{0}{2}{1}", "| {0} | {1} |"]))
    table = "| seq | id |\n|---|---|\n" if form.startswith("|") else ""
    between = data.draw(st.sampled_from(["\n", ", ", "; "])) if form.startswith("{0} ") else "\n"
    lead = data.draw(
        st.sampled_from(["TASK_MAPPING:\n", "**TASK_MAPPING:**\n\n", "## Task Mapping\n", "🗺 TASK\\_MAPPING:\n"])
    )
    rows = between.join(form.format(left, right, arrow) for left, right in said)
    answer = read_planner(f"{lead}{table}{rows}\n\n**PLAN_COMPLETE:** {len(pairs)} tasks")
    assert dict(answer.mapping) == {f"{seq:03}": str(task) for seq, task in pairs.items()}
    assert (answer.decision, answer.announced) == (PROCEED, len(pairs))


def test_prose_beside_a_mapping_maps_nothing() -> None:
    text = (
        "TASK_MAPPING:\n001 -> 4\n\nNote: all of them are set\nTotal: 1\nLogin -> the start page\nPLAN_COMPLETE: 1 task"
    )
    assert dict(read_planner(text).mapping) == {"001": "4"}


@pytest.mark.parametrize(
    "text",
    [
        "decision: CLARIFY\nquestions:\n- May a change?\n- May b?",
        "decision: CLARIFY\n\n## Questions\n- May a change?\n- May b?",
        "decision: CLARIFY\n\nIt can be read in two ways.\n\n1. May a change?\n2. **May b?**",
        "**Decision:** CLARIFY \u2013 it is not clear.\n\n**Questions for you:**\n- May a change?\n- May b?",
        "## Decision\n\n❓ CLARIFY.\n\n**Questions**\n\n1. May a change?\n2. May b?",
        "> decision\uff1a`CLARIFY`\n> - May a change?\n> - May b?",
    ],
)
def test_questions_are_found_whatever_leads_to_them(text: str) -> None:
    answer = read_planner(text)
    assert (answer.decision, answer.questions, answer.problems) == (CLARIFY, ("May a change?", "May b?"), ())


def test_to_speak_of_clarifying_is_no_decision() -> None:
    assert read_planner("I need not CLARIFY anything.\nThe decision was to proceed.").decision == ""


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("`pytest -q` must pass", "pytest -q"),
        ("`pytest -q`", "pytest -q"),
        ("Run `pytest -q` and see it pass.", "pytest -q"),
        ("```sh\npytest -q\n```\nhas to end with 0", "pytest -q"),
        ("`pytest -q` and `ruff check`", "pytest -q && ruff check"),
        ("pytest -q\n\nReport when you are done.", "pytest -q"),
        ("echo `date`", "echo `date`"),
        ('pytest -k "a and b"', 'pytest -k "a and b"'),
    ],
)
def test_a_command_is_told_from_the_words_around_it(said: str, command: str) -> None:
    assert extract_builder_params(f"TASK: x\nVERIFY: {said}\nWARNING: y").verify == command


@pytest.mark.parametrize("lead", ["🚫 ", "1. ", "> ", "- [x] ", "## ", "* **"])
def test_memories_stay_out_in_any_dress(lead: str) -> None:
    assert not should_inject(f"TASK: x\n{lead}NO_INJECT: true")
    assert should_inject(f"TASK: x\n{lead}NO_INJECT\uff1afalse")
