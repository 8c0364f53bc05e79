"""The command that shows what memory was worth, and how the outcome of a task looks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from helix import files
from helix.cli.declared import ask, asking
from helix.cli.invocation import Invocation
from helix.cli.options import As
from helix.cli.output import Output, printed_text
from helix.errors import StoreError
from helix.held_folder import held_folder

Record = Mapping[str, Any]
_BARS = " ▁▂▃▄▅▆▇█"


@asking(
    "report",
    "",
    "helix report --since 30d",
    "helix report --scope all",
    "helix report --html report.html",
    since=As(help="Only tasks recorded since then: 2025-01-31, or 30d."),
    html=As(type=click.Path(dir_okay=False, path_type=Path), help="Write it as a page instead."),
)
def _report(invocation: Invocation, html: Path | None, **asked: Any) -> None:
    if html is not None:
        _write(invocation, html, invocation.run("report_page", **asked)["reportPage"])
    else:
        ask(invocation, "report", asked, _show)


def task_outcome(out: Output, settled: Record) -> None:
    """Print how a task stands, and what the memories got that were shown to it."""
    said = f", the agent says {settled['claimed']}" if settled["claimed"] not in ("", settled["outcome"]) else ""
    out.line((settled["outcome"] or "no outcome", "bold"), f", checks: {settled['verification'].lower()}{said}")
    for gain in settled["gains"]:
        out.line(f"{_amount(gain)}  ", (gain["name"], "bold"), f"  {_reason(gain)}", indent=2)


def _amount(gain: Record) -> str:
    if gain["helped"]:
        return f"helped +{gain['helped']:g}"
    return f"failed +{gain['failed']:g}" if gain["failed"] else "nothing"


def _reason(gain: Record) -> str:
    if gain["overridden"]:
        return "as a person says"
    return printed_text("; ".join(gain["signs"])) or {"claimed": "the agent says it used it", "unused": "not used"}.get(
        gain["use"], "not known whether it was used"
    )


def _write(invocation: Invocation, file: Path, page: str) -> None:
    try:
        with held_folder(files.real_path(file.parent)) as folder:
            folder.write(file.name, page, files.PRIVATE_FILE)
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror or error}", hint="name another file") from error
    invocation.emit({"report": {"file": str(file)}}, lambda out: out.line(str(file)))


def _show(out: Output, found: Record) -> None:
    for line in found["says"]:
        out.line((line, "bold"))
    out.line()
    _arms(out, found)
    harm = found["harm"]
    out.line(
        f"harm: {harm['blocked']} tasks blocked with memory; of {harm['shown']} showings "
        f"{harm['failed']} failed and {harm['unused']} were not used"
    )
    if found["periods"]:
        out.line()
        _over_time(out, found)
    if found["leaders"]:
        out.line()
        columns = ("MEMORY", "KIND", "SHOWN", "HELPED", "CLAIMED", "FAILED", "UNUSED", "HELD BACK")
        keys = ("name", "kind", "shown", "helped", "claimed", "failed", "unused", "withheld")
        out.table(columns, [[one[key] for key in keys] for one in found["leaders"]], text=False)


def _arms(out: Output, found: Record) -> None:
    named = [("with memory", found["withMemory"]), ("held back", found["heldBack"]), ("not drawn", found["undrawn"])]
    rows = [
        (
            name,
            arm["tasks"],
            _share(arm["delivered"]),
            arm["blocked"],
            arm["open"] + arm["skipped"],
            _share(arm["repeated"]),
            f"{arm['tokensPerTask']:.0f}",
        )
        for name, arm in named
        if arm["tasks"] or name != "not drawn"
    ]
    out.table(("", "TASKS", "DELIVERED (95 %)", "BLOCKED", "OPEN", "REPEATED", "TOKENS"), rows, text=False)
    if found["neither"]:
        out.line(f"{found['neither']} more had nothing to be shown, and are in neither")


def _share(share: Record) -> str:
    if share["value"] is None:
        return "none"
    return f"{share['value']:.0%} of {share['cases']} ({share['low']:.0%}..{share['high']:.0%})"


def _over_time(out: Output, found: Record) -> None:
    """Write the share delivered in each period as bars, a blank where nothing ended."""
    periods = found["periods"]
    span = (
        f"{periods[0]['start'][:10]} to {periods[-1]['start'][:10]}, a {'day' if found['days'] == 1 else 'week'} each"
    )
    out.line(("delivered: ", "dim"), span)
    for name, arm in (("with memory", "with"), ("held back", "without")):
        bars = "".join(_bar(one[f"{arm}Delivered"], one[f"{arm}Ended"]) for one in periods)
        out.line(f"{name:<12}", bars, indent=2)


def _bar(hits: int, cases: int) -> str:
    return _BARS[1 + round(hits / cases * (len(_BARS) - 2))] if cases else _BARS[0]
