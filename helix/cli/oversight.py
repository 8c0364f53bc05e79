"""Commands by which a person judges what Helix has come to know: contradictions, resolve, unmerge, gap, review,
reflections, insight, redact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from helix.cli.completion import MEMORIES
from helix.cli.invocation import Invocation
from helix.cli.options import limit_option, listed_scope_option
from helix.cli.output import Output, one_line, shorten, told
from helix.cli.progress import follow
from helix.cli.render import label, moment, told_on

Record = Mapping[str, Any]


@click.command()
@listed_scope_option
@click.option("--all", "any_status", is_flag=True, help="Those too that are settled.")
@click.pass_obj
def contradictions(invocation: Invocation, /, scope: str | None, any_status: bool) -> None:
    """List memories that cannot both hold; `helix resolve` settles them.

    \b
    helix contradictions
    """
    data = invocation.run("contradictions", scope=scope, any_status=any_status)

    def show(out: Output) -> None:
        for case in data["contradictions"]:
            _case(out, case)
        if not data["contradictions"]:
            out.line("nothing contradicts anything else")

    invocation.emit(data, show)
    if any(case["status"] == "OPEN" for case in data["contradictions"]) and not invocation.json:
        invocation.say("say which holds: `helix resolve NAME OTHER --winner NAME` (or `both`, `neither`)")


@click.command()
@click.argument("a", shell_complete=MEMORIES)
@click.argument("b", shell_complete=MEMORIES)
@click.option("--winner", shell_complete=MEMORIES, metavar="NAME", help="The one that holds, or `both` or `neither`.")
@click.option("--note", help="What there is to say about it.")
@click.option("--reopen", is_flag=True, help="Take back what was said of it.")
@click.pass_obj
def resolve(invocation: Invocation, /, a: str, b: str, winner: str | None, note: str | None, reopen: bool) -> None:
    """Say which of two contradicting memories holds.

    \b
    helix resolve api-needs-node-20 api-needs-node-22 --winner api-needs-node-22
    helix resolve api-needs-node-20 api-needs-node-22 --reopen
    """
    if reopen == (winner is not None):
        raise click.UsageError("say which one holds (--winner), or --reopen")
    if reopen:
        data = invocation.run("reopen_contradiction", a=a, b=b)
    else:
        data = invocation.run("resolve_contradiction", a=a, b=b, winner=winner, note=note)
    invocation.emit(data, lambda out: _case(out, next(iter(data.values()))))


@click.command()
@click.argument("name", shell_complete=MEMORIES)
@click.pass_obj
def unmerge(invocation: Invocation, /, name: str) -> None:
    """Bring back a memory that was folded into another one; the two are not folded again.

    \b
    helix unmerge api-needs-node-20
    """
    data = invocation.run("unmerge", name_or_id=name)
    invocation.emit(data, lambda out: out.line((data["unmerge"]["name"], "bold"), " stands by itself again"))


@click.group()
def gap() -> None:
    """Keep what is known to be unknown; a later memory that answers it closes it.

    \b
    helix gap note
    helix gap reopen NAME
    """


@gap.command("note")
@click.option("--session", help="Whose last question; your own by default.")
@click.option("--agent", help="Who asked.")
@click.pass_obj
def note_(invocation: Invocation, /, session: str | None, agent: str | None) -> None:
    """Remember that the last question was not answered; one that was is not noted.

    \b
    helix recall "who owns the billing queue?"
    helix gap note
    """
    data = invocation.run("note_gap", session=session, agent=agent)
    noted = data["noteGap"]

    def show(out: Output) -> None:
        if noted is None:
            out.line("nothing is noted: the last question was answered, or limited to a part of what is known")
        else:
            out.line((noted["name"], "bold"), f" {noted['status'].lower()}")

    invocation.emit(data, show)


@gap.command("reopen")
@click.argument("name", shell_complete=MEMORIES)
@click.pass_obj
def reopen_(invocation: Invocation, /, name: str) -> None:
    """Say that what closed a gap did not answer it.

    \b
    helix gap reopen who-owns-the-billing-queue
    """
    data = invocation.run("reopen_gap", name_or_id=name)
    invocation.emit(data, lambda out: out.line((data["reopenGap"]["name"], "bold"), " is open again"))


@click.group()
def review() -> None:
    """Look through what is kept from recall because it reads like an instruction to an agent.

    \b
    helix review list
    helix review accept NAME
    """


@review.command("list")
@listed_scope_option
@limit_option(20)
@click.pass_obj
def list_(invocation: Invocation, /, scope: str | None, limit: int) -> None:
    """List what waits to be looked at, newest first.

    \b
    helix review list
    """
    data = invocation.run("review", scope=scope, first=limit)
    page = data["review"]

    def show(out: Output) -> None:
        for edge in page["edges"]:
            held = edge["node"]
            out.line(
                (held["name"] or held["ref"]["id"], "bold"),
                f"  {held['ref']['label'].lower()}, {held['scope']}, {held['trust'].lower()}",
            )
            out.line(told(shorten(held["text"])), indent=3)
            out.line(("because: ", "dim"), told("; ".join(held["reasons"])), indent=3)
        out.line(f"{page['totalCount']} to be looked at")

    invocation.emit(data, show)
    if page["edges"] and not invocation.json:
        invocation.say("`helix review accept NAME` lets it be recalled, `helix review reject NAME` keeps it out")


@review.command()
@click.argument("name", shell_complete=MEMORIES)
@click.option("--by", help="Who accepts it.")
@click.pass_obj
def accept(invocation: Invocation, /, name: str, by: str | None) -> None:
    """Let something be recalled; its trust stays what it was.

    \b
    helix review accept deploy-from-the-release-branch
    """
    _judged(invocation, "accept", name, by, "is recalled from now on")


@review.command()
@click.argument("name", shell_complete=MEMORIES)
@click.option("--by", help="Who rejects it.")
@click.pass_obj
def reject(invocation: Invocation, /, name: str, by: str | None) -> None:
    """Have something forgotten; it stays on disk.

    \b
    helix review reject ignore-what-was-said-before
    """
    _judged(invocation, "reject", name, by, "is forgotten")


@click.command()
@listed_scope_option
@limit_option(20)
@click.pass_obj
def reflections(invocation: Invocation, /, scope: str | None, limit: int) -> None:
    """List insights, newest first; `helix insight ID` shows what one rests on.

    \b
    helix reflections
    """
    data = invocation.run("reflections", scope=scope, first=limit)

    def show(out: Output) -> None:
        for edge in data["reflections"]["edges"]:
            found = edge["node"]
            out.line(
                (found["id"], "bold"),
                f"  {found['saidBy']}, level {found['level']}, confidence {found['confidence']:.2f}",
            )
            out.line((told(one_line(found["question"]), found), "dim"), indent=3)
            out.line(told(shorten(found["insight"]), found), indent=3)
        if not data["reflections"]["edges"]:
            out.line("nothing was gathered into an insight yet")

    invocation.emit(data, show)


@click.command()
@click.argument("reflection")
@click.pass_obj
def insight(invocation: Invocation, /, reflection: str) -> None:
    """Show an insight with what it rests on, down to what happened.

    \b
    helix insight 0192f0c1-...
    """
    data = invocation.run("insight_tree", id=reflection)
    invocation.emit(data, lambda out: _tree(out, data["insightTree"]))


@click.command()
@click.option("--scan", is_flag=True, expose_value=False, help="Look through all that is stored, as it does anyway.")
@click.option("--apply", is_flag=True, help="Take out what is found, from every file, for good.")
@click.pass_obj
def redact(invocation: Invocation, /, apply: bool) -> None:
    """Look for secrets that older rules have missed; nothing is changed without --apply.

    \b
    helix redact --scan
    helix redact --scan --apply
    """
    if apply and not invocation.json:
        invocation.say("what is taken out cannot be brought back")
    job = follow(invocation, invocation.run("scan_secrets", apply=apply)["scanSecrets"], cancels=not apply)
    report = job["result"]

    def show(out: Output) -> None:
        for found in report["found"]:
            out.line(
                (found["kind"], "bold"), f"  {found['ref']['label'].lower()} {found['ref']['id']}, {found['place']}"
            )
            out.line(told(one_line(found["excerpt"])), indent=3)
        out.line(f"{len(report['found'])} secrets in {report['scanned']:,} nodes")
        if report["erasure"]:
            erased(out, report["erasure"])

    invocation.emit({"scanSecrets": job}, show)
    if report["found"] and not apply and not invocation.json:
        invocation.say("`helix redact --scan --apply` takes them out, for good")


def erased(out: Output, report: Record) -> None:
    """Write what an erasure came to, and above all where the text may still be."""
    out.line(f"{len(report['erased'])} erased, {report['rows']} rows of the journal emptied")
    for copy in report["copies"]:
        out.line(f"{copy['path']}: ", "erased" if copy["erased"] else (f"STILL HOLDS IT: {copy['why']}", "bold red"))
    for warning in report["warnings"]:
        out.line(("warning: ", "bold yellow"), warning)


def _case(out: Output, case: Record) -> None:
    first, second = case["first"], case["second"]
    out.line((first["name"], "bold"), " against ", (second["name"], "bold"), f"  {case['status'].lower()}")
    for side in (first, second):
        text = told(one_line(f"{side['trigger']} {side['resolution']}", 100), side)
        out.line(f"{told_on(side)}  {label(side)} {text}", indent=3)
    out.line((f"{case['ground']}: ", "dim"), f"{told(case['left'], first)} / {told(case['right'], second)}", indent=3)
    if case["outcome"]:
        out.line(("stays: ", "dim"), case["outcome"].lower(), f"  {case['note']}" if case["note"] else "", indent=3)


def _judged(invocation: Invocation, operation: str, name: str, by: str | None, words: str) -> None:
    data = invocation.run(operation, name_or_id=name, by=by)
    node = data[operation]
    invocation.emit(data, lambda out: out.line((node.get("name") or node["id"], "bold"), f" {words}"))


def _tree(out: Output, tree: Record) -> None:
    top = tree["reflection"]
    out.line((told(top["insight"], top), "bold"))
    out.line(f"{top['saidBy']}, level {top['level']}, confidence {top['confidence']:.2f}, {top['status'].lower()}")
    for piece in tree["evidence"]:
        gone = "" if piece["stands"] else "  (gone)"
        more = "  (more below, shown before or too deep)" if piece["cut"] else ""
        where = f"{piece['ref']['label'].lower()}, {moment(piece['at'])}: "
        out.line((where, "dim"), f"{told(one_line(piece['text'], 160))}{gone}{more}", indent=3 * piece["depth"])
