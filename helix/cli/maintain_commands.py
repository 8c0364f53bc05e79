"""The section Maintain: what keeps a store in shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from helix.cli.background import working
from helix.cli.declared import Show, ask, asking, check_erased, command
from helix.cli.invocation import Invocation
from helix.cli.options import As, flag
from helix.cli.output import Output, one_line, printed_label, printed_size, printed_text
from helix.cli.render import erased
from helix.errors import StoreCorruptError

Record = Mapping[str, Any]


def _done(words: str) -> Show:
    """Return what shows a job that has come to its end, with what it counted."""

    def show(out: Output, result: Record) -> None:
        out.line(words.format(**result))
        rest = {name: value for name, value in result.items() if f"{{{name}}}" not in words}
        out.fields({name: printed_size(value) if name.endswith("bytes") else value for name, value in rest.items()})

    return show


def _changed(out: Output, report: Record) -> None:
    for name in report["names"]:
        out.line(name)
    out.say(f"{report['changed']} {'would change' if report['dryRun'] else 'changed'}")
    if report["job"]:
        out.say(f"`helix undo {report['job']}` takes it back")


working(
    "merge",
    "merge_similar",
    "Fold memories that say nearly the same into one; `helix undo` takes it back.",
    "helix merge --dry-run",
    threshold=As(type=click.FloatRange(0, 1), help="Cosine from which two are alike; by default the model's."),
)
working(
    "roll-up",
    "roll_up",
    "Summarise episodes that have faded, a few neighbours at a time; the episodes stay.",
    "helix roll-up --dry-run",
)


@asking(
    "redact",
    "scan_secrets",
    "helix redact --scan",
    "helix redact --scan --apply",
    says="Look for secrets that older rules missed. Nothing is changed without --apply.",
    scan=flag("--scan", words="Look through all that is stored, as it does anyway."),
)
def _redact(invocation: Invocation, scan: bool, apply: bool = False) -> None:
    if apply and not invocation.json:
        invocation.say("what is taken out cannot be brought back")
    report = ask(invocation, "scan_secrets", {"apply": apply}, _secrets, cancels=not apply)
    if report and report["erasure"]:
        check_erased(invocation, report["erasure"])


def _secrets(out: Output, report: Record) -> None:
    for found in report["found"]:
        where = f"{found['ref']['label'].lower()} {printed_label(found['ref']['id'])}"
        out.line((found["kind"], "bold"), f"  {where}, {found['place']}")
        out.line(printed_text(one_line(found["excerpt"])), indent=3)
    out.line(f"{len(report['found'])} secrets in {report['scanned']:,} nodes")
    if report["erasure"]:
        erased(out, report["erasure"])
    elif report["found"]:
        out.say("`helix redact --scan --apply` takes them out, for good")


command("decay", "", "helix decay --dry-run", show=_changed)
command("decay-edges", "", "helix decay-edges --unused-days 90", show=_changed)
command("prune", "", "helix prune --dry-run", show=_changed)
command("rebuild", show=_done("the graph is rebuilt"))
command(
    "reembed",
    "",
    "helix stop",
    "helix reembed",
    says="Embed everything anew, after a change of `embedding_model`.\n\n"
    "The daemon reads its settings when it starts: set the model in config.toml, stop the daemon, then reembed.",
    show=_done("everything is embedded anew"),
)
command("backup", "", "helix backup ~/helix-monday.backup", show=_done("backed up to {path}"))


@asking(
    "recover",
    says="Recover what the journal lost, from the files that were set aside when the loss was noticed.\n\n"
    "Changes that the kept journal proves come back as they were. Memories that only the kept graph knows wait in "
    "`helix review list`. A journal that cannot be opened at all is put aside first, and what can be read of it comes "
    "back; where you have a backup, `helix restore --backup FILE` may bring back more.",
    acknowledge=flag("--acknowledge", words="Say that you know of the loss: the warning ends, kept files stay."),
)
def _recover(invocation: Invocation, acknowledge: bool) -> None:
    if acknowledge:
        ask(invocation, "acknowledge_loss", {}, "{} losses acknowledged")
        return
    _open_anyhow(invocation)
    ask(invocation, "recover", {}, _done("taken back"))


def _open_anyhow(invocation: Invocation) -> None:
    """Have a daemon serve the store; where its journal cannot be opened, that is put aside and a new one begun."""
    try:
        invocation.client()
    except StoreCorruptError as error:
        from helix.cli.serve import set_aside_closed_store  # the service: seconds to load, and only for this

        invocation.say(f"{error.message}: it is put aside, and what can be read of it is taken back")
        set_aside_closed_store(invocation.settings)
        invocation.client()
