"""The section Recall: what matters now, and why it came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from helix.cli import render
from helix.cli.declared import ask, asking, command
from helix.cli.invocation import Invocation
from helix.cli.options import SEEN, WORDS, As, flag, is_given
from helix.cli.output import Output

_EXPLAIN = flag("--explain", "--why", "-v", words="Show all, with what found each item and how it was ranked.")
_FULL = flag("--full", words="Show all, with whole texts.")
_FEW = 5
"""Most items that are shown on a terminal where nobody says how many."""


@asking(
    "recall",
    "",
    'helix recall "why does the upload time out?"',
    "helix recall retries --kind failure --file lib/http.c --since 30d",
    says="Find the memories and episodes that answer a question. `-v` shows all of them, and why each was found.",
    query=WORDS,
    scope=SEEN,
    since=As(help="Nothing older than this: 2025-01-31, or 7d."),
    everything=As("--all"),
    explain=_EXPLAIN,
    full=_FULL,
)
def _recall(invocation: Invocation, full: bool, explain: bool = False, **asked: Any) -> None:
    data = invocation.run("recall", explain=explain, **asked)
    most = asked["limit"] if is_given("limit") or "everything" in asked else _FEW
    brief = _is_brief(invocation, explain, full)
    _show_answer(invocation, data, data["recall"], explain=explain, full=full, brief=brief, most=most)


@asking(
    "recall-by-type",
    "",
    'helix recall-by-type "deploying" --kind failure --kind convention',
    query=WORDS,
    scope=SEEN,
    full=_FULL,
)
def _recall_by_type(invocation: Invocation, full: bool, **asked: Any) -> None:
    def show(out: Output, groups: Sequence[Mapping[str, Any]]) -> None:
        for group in groups:
            if group["answer"]["items"]:
                out.line((group["kind"].lower(), "bold underline"))
                if _is_brief(invocation, full):
                    render.few(out, group["answer"], asked["limit"], asked.get("scope"))
                else:
                    render.answer(out, group["answer"], full=full)
        _say_notes(invocation, [note for group in groups for note in group["answer"]["notes"]])

    ask(invocation, "recall_by_type", asked, show)


@command("similar-recent", "", 'helix similar-recent "the tests hang on CI" --kind failure', trigger=WORDS, scope=SEEN)
def _similar(out: Output, found: Sequence[Mapping[str, Any]]) -> None:
    label: render.Columns = {"SAID BY": lambda one: render.label(one["memory"])}
    columns = {"SIMILARITY": "similarity", "NAME": "memory.name", **label, "TRIGGER": "memory.trigger"}
    render.table(out, found, columns)


@asking("last", "", "helix last --explain", explain=_EXPLAIN, full=_FULL)
def _last(invocation: Invocation, explain: bool, full: bool, **asked: Any) -> None:
    data = invocation.run("last", **asked)
    if data["last"] is None:
        invocation.emit(data, lambda out: out.say("nothing has been recalled yet"))
        return
    if not invocation.json:
        invocation.say(f"asked {render.moment(data['last']['at'])}: {data['last']['query']['query']}")
    brief = _is_brief(invocation, explain, full)
    _show_answer(invocation, data, data["last"], explain=explain, full=full, brief=brief)


@command("why", "", "helix why api-needs-node-20")
def _why(out: Output, item: Mapping[str, Any]) -> None:
    render.recall_item(out, item, explain=True, full=True)


def _is_brief(invocation: Invocation, *more: bool) -> bool:
    """Return whether an answer is shown in a few lines: to people at a terminal who ask for no more."""
    return invocation.out.width is not None and not invocation.json and not any(more)


def _show_answer(
    invocation: Invocation,
    data: dict[str, Any],
    answer: dict[str, Any],
    *,
    explain: bool,
    full: bool,
    brief: bool,
    most: int = _FEW,
) -> None:
    if brief:
        here = invocation.looked.scope if invocation.looked is not None else None
        count = render.few(invocation.out, answer, most, here)
        if count < len(answer["items"]):
            invocation.say(f"{count} of {len(answer['items'])}; `helix last -v` shows all, and why each is there")
    else:
        invocation.emit(data, lambda out: render.answer(out, answer, explain=explain, full=full))
    _say_notes(invocation, answer["notes"])
    if not answer["items"] and not invocation.json:
        invocation.say("nothing found")


def _say_notes(invocation: Invocation, notes: list[str]) -> None:
    if not invocation.json:
        for note in dict.fromkeys(notes):
            invocation.say(f"note: {note}")
