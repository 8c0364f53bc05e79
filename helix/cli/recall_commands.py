"""Recall commands: recall, recall-by-type, similar-recent, last, why."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from helix.cli import render
from helix.cli.completion import MEMORIES, RECIPES
from helix.cli.invocation import Invocation
from helix.cli.options import Moment, Word, kind_type, limit_option, seen_scope_option, session_option, words_of
from helix.cli.output import Output, one_line, told
from helix.model.edge import Label
from helix.model.memory import Kind
from helix.model.recall import Expand, Intent

_explain = click.option(
    *("--explain", "--why", "-v", "explain"),
    is_flag=True,
    help="Show all, with the arms and factors that put it there.",
)
_full = click.option("--full", is_flag=True, help="Show all, with whole texts.")
_FEW = 5
"""Most items that are shown on a terminal where nobody says how many."""


@click.command()
@click.argument("query", nargs=-1, required=True)
@seen_scope_option
@click.option("--kind", "-k", "kinds", type=kind_type, multiple=True, help="Only this kind. Repeatable.")
@click.option("--label", "labels", type=Word(words_of(Label)), multiple=True, help="Only this label. Repeatable.")
@limit_option(10)
@click.option("--intent", type=Word(words_of(Intent)), help="What you are after: boosts the kinds that answer it.")
@click.option("--expand", type=Word(words_of(Expand)), help="How far to walk the graph.")
@click.option("--file", "files", multiple=True, help="A file you are working on. Repeatable.")
@click.option("--as-of", type=Moment(), help="What held at this time.")
@click.option("--known-at", type=Moment(), help="What was known at this time.")
@click.option("--asked-at", type=Moment(), help="When this was asked: `last week` is the one before then.")
@click.option("--since", type=Moment(), help="Nothing older than this: 2025-01-31, or 7d.")
@click.option("--budget", "budget_tokens", type=click.IntRange(min=0), help="Most tokens of all texts together.")
@click.option("--recipe", shell_complete=RECIPES, help="How scores are made.")
@click.option("--rerank/--no-rerank", default=None, help="Have a cross-encoder read the best again: better, slower.")
@click.option("--deep", is_flag=True, help="Also what is archived or has faded.")
@click.option("--all", "everything", is_flag=True, help="Also what hardly fits, and what says less than other items.")
@session_option
@_explain
@_full
@click.pass_obj
def recall(invocation: Invocation, /, query: tuple[str, ...], full: bool, explain: bool, **asked: Any) -> None:
    """Ask for what matters now. A terminal shows the few that answer by themselves; `-v` shows all, and why.

    \b
    helix recall "why does the upload time out?"
    helix recall retries --kind failure --file lib/http.c --since 30d
    """
    asked = {name: value for name, value in asked.items() if value != ()}
    brief = _is_brief(invocation, explain, full)
    data = invocation.run("recall", query=" ".join(query), explain=explain, **asked)
    most = asked["limit"] if _is_given("limit") or asked["everything"] else _FEW
    _show_answer(invocation, data, data["recall"], explain=explain, full=full, brief=brief, most=most)


@click.command("recall-by-type")
@click.argument("query", nargs=-1, required=True)
@click.option("--kind", "-k", "kinds", type=kind_type, multiple=True, help="A kind wanted (default: all). Repeatable.")
@seen_scope_option
@limit_option(5)
@_full
@click.pass_obj
def recall_by_type(
    invocation: Invocation,
    /,
    query: tuple[str, ...],
    kinds: tuple[Kind, ...],
    scope: str | None,
    limit: int,
    full: bool,
) -> None:
    """Ask for the best few memories of each kind.

    \b
    helix recall-by-type "deploying" --kind failure --kind convention
    """
    brief, wanted = _is_brief(invocation, full), kinds or tuple(Kind)
    asked = {"query": " ".join(query), "kinds": wanted, "scope": scope, "limit": limit}
    data = invocation.run("recall_by_type", **asked)

    def show(out: Output) -> None:
        for group in data["recallByType"]:
            if group["answer"]["items"]:
                out.line((group["kind"].lower(), "bold underline"))
                if brief:
                    render.few(out, group["answer"], limit, scope)
                else:
                    render.answer(out, group["answer"], full=full)

    invocation.emit(data, show)
    _say_notes(invocation, [note for group in data["recallByType"] for note in group["answer"]["notes"]])


@click.command("similar-recent")
@click.argument("trigger", nargs=-1, required=True)
@click.option("--threshold", type=click.FloatRange(-1, 1), default=0.7, show_default=True, help="Least similarity.")
@click.option("--days", type=click.FloatRange(min=0), default=7, show_default=True, help="How far back.")
@click.option("--kind", "-k", type=kind_type, help="Only this kind.")
@seen_scope_option
@limit_option(10)
@click.pass_obj
def similar_recent(invocation: Invocation, /, trigger: tuple[str, ...], **asked: Any) -> None:
    """Find the memories of the last days whose trigger is like this one.

    \b
    helix similar-recent "the tests hang on CI" --kind failure
    """
    data = invocation.run("similar_recent", trigger=" ".join(trigger), **asked)

    def show(out: Output) -> None:
        rows = [
            (f"{found['similarity']:.2f}", found["memory"]["name"], *_said(found["memory"]))
            for found in data["similarRecent"]
        ]
        out.table(("SIMILARITY", "NAME", "SAID BY", "TRIGGER"), rows)

    invocation.emit(data, show)


def _said(memory: dict[str, Any]) -> tuple[str, str]:
    return render.label(memory), told(one_line(memory["trigger"]), memory)


@click.command()
@session_option
@_explain
@_full
@click.pass_obj
def last(invocation: Invocation, /, session: str | None, explain: bool, full: bool) -> None:
    """Show what was recalled last, and why.

    \b
    helix last --explain
    """
    brief = _is_brief(invocation, explain, full)
    data = invocation.run("last", session=session)
    if data["last"] is None:
        invocation.emit(data, lambda out: None)
        if not invocation.json:
            invocation.say("nothing has been recalled yet")
        return
    if not invocation.json:
        invocation.say(f"asked {render.moment(data['last']['at'])}: {data['last']['query']['query']}")
    _show_answer(invocation, data, data["last"], explain=explain, full=full, brief=brief)


@click.command()
@click.argument("name", shell_complete=MEMORIES)
@session_option
@click.pass_obj
def why(invocation: Invocation, /, name: str, session: str | None) -> None:
    """Show why a memory stands where it does in the last answer.

    \b
    helix why api-needs-node-20
    """
    data = invocation.run("why", name_or_id=name, session=session)
    invocation.emit(data, lambda out: render.recall_item(out, data["why"], explain=True, full=True))


def _is_brief(invocation: Invocation, *more: bool) -> bool:
    """Return whether an answer is shown in a few lines: to people at a terminal who ask for no more."""
    return invocation.out.width is not None and not invocation.json and not any(more)


def _is_given(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) is not ParameterSource.DEFAULT


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
