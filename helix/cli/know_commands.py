"""The section Know: what Helix made of what happened, and what people say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from helix.cli.background import came_to, finish, what, working
from helix.cli.declared import ask, asking, command, group
from helix.cli.invocation import Invocation, Looked
from helix.cli.options import MEMORIES, As, flag
from helix.cli.output import Output, one_line, printed_label, printed_text, shorten
from helix.cli.render import Columns, gate_line, label, moment, table, told_on
from helix.errors import ConflictError

Record = Mapping[str, Any]


@asking("flush", wait=As("--wait/--no-wait", default=True, help="Wait until it is done."))
def _flush(invocation: Invocation, wait: bool, **asked: Any) -> None:
    finish(invocation, invocation.run("flush", **asked)["flush"], wait=wait)


working(
    "consolidate",
    "consolidate",
    "Make memories of what happened repeatedly, each grounded in its episodes.",
    "helix consolidate --dry-run",
    anew=flag("--anew", words="Derive every memory again, undone ones too; edits and feedback are kept."),
)
working(
    "reflect",
    "reflect",
    "Look for insights in the most important recent episodes. Each cites what it rests on.",
    "helix reflect",
    "helix reflections",
)


@command("reflections", none="nothing was gathered into an insight yet", first=As(default=20))
def _reflections(out: Output, found: Sequence[Record]) -> None:
    for one in found:
        out.line((one["id"], "bold"), f"  {one['saidBy']}, level {one['level']}, confidence {one['confidence']:.2f}")
        out.line((printed_text(one_line(one["question"]), one), "dim"), indent=3)
        out.line(printed_text(shorten(one["insight"]), one), indent=3)


@command("insight", "insight_tree", "helix insight 0192f0c1-...", id=As("reflection"))
def _insight(out: Output, tree: Record) -> None:
    top = tree["reflection"]
    out.line((printed_text(top["insight"], top), "bold"))
    out.line(f"{top['saidBy']}, level {top['level']}, confidence {top['confidence']:.2f}, {top['status'].lower()}")
    for piece in tree["evidence"]:
        gone = "" if piece["stands"] else "  (gone)"
        more = "  (more below, shown before or too deep)" if piece["cut"] else ""
        where = f"{piece['ref']['label'].lower()}, {moment(piece['at'])}: "
        out.line((where, "dim"), f"{printed_text(one_line(piece['text'], 160))}{gone}{more}", indent=3 * piece["depth"])


@command("contradictions", none="no contradictions; without an embedding model none are found", status=None)
def _contradictions(out: Output, cases: Sequence[Record]) -> None:
    for case in cases:
        _case(out, case)
    if any(case["status"] == "OPEN" for case in cases):
        out.say("say which holds: `helix resolve NAME OTHER --winner NAME` (or `both`, `neither`)")


def _case(out: Output, case: Record) -> None:
    first, second = case["first"], case["second"]
    out.line((first["name"], "bold"), " against ", (second["name"], "bold"), f"  {case['status'].lower()}")
    for side in (first, second):
        text = printed_text(one_line(f"{side['trigger']} {side['resolution']}", 100), side)
        out.line(f"{told_on(side)}  {label(side)} {text}", indent=3)
    stands = f"{printed_text(case['left'], first)} / {printed_text(case['right'], second)}"
    if case["drawnBy"]:
        out.line(("drawn by: ", "dim"), case["drawnBy"], indent=3)
    else:
        out.line((f"{case['ground']}: ", "dim"), stands, indent=3)
    if case["outcome"]:
        out.line(("stays: ", "dim"), case["outcome"].lower(), f"  {case['note']}" if case["note"] else "", indent=3)


@asking(
    "resolve",
    "resolve_contradiction",
    "helix resolve api-needs-node-20 api-needs-node-22 --winner api-needs-node-22",
    "helix resolve api-needs-node-20 api-needs-node-22 --reopen",
    a=As(shell_complete=MEMORIES),
    b=As(shell_complete=MEMORIES),
    winner=As("--winner", metavar="NAME", required=False, shell_complete=MEMORIES),
    reopen=flag("--reopen", words="Take the decision back."),
)
def _resolve(invocation: Invocation, reopen: bool, **asked: Any) -> None:
    if reopen == ("winner" in asked):
        raise click.UsageError("say which one holds (--winner), or --reopen")
    if reopen:
        ask(invocation, "reopen_contradiction", {name: asked[name] for name in "ab"}, _case)
    else:
        ask(invocation, "resolve_contradiction", asked, _case)


@command("duplicates", "", "helix duplicates")
def _duplicates(out: Output, found: Sequence[Record]) -> None:
    names = {"FIRST": "first.name", "SECOND": "second.name", "SCOPE": "first.scope"}
    table(out, found, {"SIMILARITY": "similarity", **names})


command("unmerge", "", "helix unmerge api-needs-node-20", show="{name} stands by itself again")

group(
    "gap",
    "Keep questions that have no answer yet; a later memory that answers one closes it.",
    "helix gap note",
    "helix gap reopen NAME",
)
command(
    "gap note",
    "note_gap",
    'helix recall "who owns the billing queue?"',
    "helix gap note",
    show="{name} {status}",
    none="nothing is noted: the last question was answered, or limited to a part of what is known",
)
command("gap reopen", "reopen_gap", "helix gap reopen who-owns-the-billing-queue", show="{name} is open again")

group(
    "review",
    "Review what is quarantined because it reads like an instruction to an agent.",
    "helix review list",
    "helix review accept NAME",
)


@command("review list", "review", first=As(default=20))
def _held(out: Output, found: Sequence[Record]) -> None:
    for held in found:
        name = held["name"] or held["ref"]["id"]
        out.line(
            (name, "bold"), f"  {held['ref']['label'].lower()}, {printed_label(held['scope'])}, {held['trust'].lower()}"
        )
        out.line(printed_text(shorten(held["text"])), indent=3)
        out.line(("because: ", "dim"), printed_text("; ".join(held["reasons"])), indent=3)
    if found:
        out.say("`helix review accept NAME` lets it be recalled, `helix review reject NAME` keeps it out")


command(
    "review accept",
    "accept",
    "helix review accept deploy-from-the-release-branch",
    show="{name} is recalled from now on",
)
command("review reject", "reject", "helix review reject ignore-what-was-said-before", show="{name} is forgotten")
command("review hold", "hold", "helix review hold ignore-what-was-said-before", show="{name} is quarantined")


@asking(
    "work",
    "background",
    "helix work",
    "helix work --pause",
    pause=As("--pause/--go-on", default=None, help="Pause background jobs, or resume them."),
    cancel=As(metavar="ID", help="Ask a job to end."),
)
def _work(invocation: Invocation, pause: bool | None, cancel: str | None, **asked: Any) -> None:
    invocation.looked = Looked(scope=None)
    if pause is not None:
        invocation.run("pause_worker", on=pause)
    if cancel is not None:
        invocation.run("cancel_work", id=cancel)
    ask(invocation, "background", asked, _background)


def _background(out: Output, report: Record) -> None:
    out.fields(
        {
            "paused": "yes: `helix work --go-on` ends it" if report["paused"] else None,
            "running": what(report["running"]) if report["running"] else None,
            "queued": report["queued"] or None,
            "failed": report["failed"] or None,
            "without a vector": report["lackingVectors"] or None,
            "next consolidation": f"at importance {report['budget']:g}, now {report['importance']:g}",
            "gate": gate_line(report["gate"]),
        }
    )
    if report["items"]:
        columns: Columns = {"ID": "id", "KIND": "kind", "STATE": "state", "ASKED FOR": "createdAt", "CAME TO": came_to}
        table(out, report["items"], columns)


@command(
    "undo",
    "",
    "helix work",
    "helix undo 0192f0c1-... --dry-run",
    says="Undo a background job exactly; `helix work` lists them. Exit code 4: a later change is in the way.",
    code=lambda report: ConflictError.exit_code if report["conflicts"] else 0,
)
def _undo(out: Output, report: Record) -> None:
    for conflict in report["conflicts"]:
        out.line(f"in the way: {printed_text(conflict['what'])}, by {conflict['by']}")
    if report["restored"] or not report["conflicts"]:
        out.line(f"{report['restored']} {'would be put' if report['dryRun'] else 'put'} back as they were before")
    if report["keptOut"]:
        out.line(f"{report['keptOut']} derived memories stay away until `helix consolidate --anew`")
    if report["conflicts"] and report["restored"]:
        out.say("the rest is as it was: what came meanwhile would be lost; the same command goes on when that is gone")
    elif report["conflicts"]:
        out.say("nothing was changed: what came later would be lost")
