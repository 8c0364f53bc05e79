"""Daemon commands: serve, status, stop, open, doctor, pause."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from helix import bearer, daemon
from helix.cli.config import strange_variables
from helix.cli.declared import command
from helix.cli.invocation import Invocation
from helix.cli.options import As, asked_words, claim_words, project_here
from helix.cli.output import Output, printed_size
from helix.cli.privacy import privacy_findings
from helix.cli.render import by_name, gate_line, moment
from helix.errors import DaemonError, HelixError, StoreError, StoreLockedError
from helix.folders import folders_before, names_before
from helix.identity import former_scopes
from helix.lock import is_locked, owner_of
from helix.model.usage import NOT_CONFIRMED, NOT_INSTALLED
from helix.processes import begin_loading, calm_numpy, show_in_browser
from helix.settings import Settings, load


@click.command()
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen on; 0 for one that the store never had.")
@click.option("--host", help="Loopback address to listen on.")
@click.option(
    "--idle-exit",
    "minutes",
    metavar="MINUTES",
    type=click.FloatRange(min=0),
    default=0,
    help="Leave when unused for so many minutes; 0, the default: stay.",
)
@click.option("--engine", metavar="ADDRESS", help="PostgreSQL server that keeps the journal, without a password.")
@click.option("--tenant", metavar="NAME", help="Which of the server's tenants to serve; `main` by default.")
@click.option("--detach", is_flag=True, help="Serve in the background and return when it is ready.")
@click.pass_obj
def serve(
    invocation: Invocation,
    /,
    port: int | None,
    host: str | None,
    minutes: float,
    engine: str | None,
    tenant: str | None,
    detach: bool,
) -> None:
    """Run the daemon here, until Ctrl-C. Other commands start it in the background by themselves.

    \b
    helix serve
    helix serve --port 8765 --detach
    helix serve --engine postgresql://helix@db/helix --tenant shop
    """
    invocation.flags.update(port=port, host=host, engine=engine, tenant=tenant)
    settings = invocation.settings
    if not detach:
        settings = load({**invocation.flags, "db_path": settings.store_path}, for_daemon=True)
    if detach:
        daemon.ensure_running(settings, idle_minutes=minutes)
        found = daemon.find(settings.store_path)
        if found is not None:
            _show_ready(invocation, found, ())
        return
    if is_locked(settings.store_path):
        # Said before anything heavy is loaded; opening the store makes sure of it.
        words = f"the store {settings.store_path} is open in process {owner_of(settings.store_path)}"
        raise StoreLockedError(words, hint="`helix status` shows it, `helix stop` ends it")
    calm_numpy()
    begin_loading()
    from helix.cli.serve import serve_store  # the service and its API: seconds to load, and only for this

    serve_store(settings, idle_minutes=minutes, ready=lambda found, words: _show_ready(invocation, found, words))


@click.command()
@click.pass_obj
def status(invocation: Invocation, /) -> None:
    """Show the daemon and its store, or the team's server that is set; starts nothing. Exit code 9 when none runs.

    \b
    helix status
    """
    settings = invocation.settings
    if settings.server:
        _show_team(invocation)
        return
    found, client = daemon.find(settings.store_path), daemon.running(settings)
    if found is None or client is None:
        invocation.emit({"status": None, "daemon": None}, lambda out: out.line(_absence(settings)))
        raise click.exceptions.Exit(DaemonError.exit_code)
    project = project_here(settings, Path.cwd())
    names = dict.fromkeys((*names_before(settings.home, project), *former_scopes(Path.cwd())))
    with client:
        data = client.run("status")
        former = [scope for scope in names if client.run("stats", scope=scope)["stats"]["total"]]
    here, before = project.scope, folders_before(settings.home, project)
    invocation.emit(
        {
            **data,
            "daemon": asdict(found),
            "scope": here,
            "asked": project.asked,
            "foldersBefore": before,
            "formerScopes": [one for one in former if one != here],
        },
        lambda out: _show_status(out, data["status"], found, here),
    )
    if project.asked and not invocation.json:
        invocation.say(f"warning: {asked_words(project)}")
    for line in claim_words(project, before) if not invocation.json else ():
        invocation.say(line)
    for scope in () if invocation.json or here in former else former:
        invocation.say(f"warning: this folder's project was {scope} before, and what is known of that is not seen here")
        invocation.say(f"hint: to go on with it: helix name {scope}")


@click.command()
@click.pass_obj
def stop(invocation: Invocation, /) -> None:
    """Stop the daemon of this machine; what it has begun is finished first. The next command starts another.

    \b
    helix stop
    """
    stopped = daemon.stop(invocation.settings)
    pid = None if stopped is None else stopped.pid
    words = "no daemon runs" if stopped is None else f"the daemon (process {pid}) has stopped"
    if server := invocation.settings.server:
        words += f" on this machine; commands ask {server}, which this does not stop"
    invocation.emit({"stop": {"stopped": stopped is not None, "pid": pid}}, lambda out: out.line(words))


@click.command("open")
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@click.pass_obj
def open_(invocation: Invocation, /, no_browser: bool) -> None:
    """Open the explorer in the browser, by a link that works once and within a minute.

    \b
    helix open
    """
    data = invocation.run("open_link")
    link = data["openLink"]
    invocation.emit(data, lambda out: out.line(link["url"]))
    if no_browser:
        return
    page = bearer.put_link(invocation.settings.store_path.absolute(), link["url"])
    if not show_in_browser(page.as_uri()) and not invocation.json:
        invocation.say(f"no browser was found: open the link yourself within {link['expiresInSeconds']} s")


@click.command()
@click.pass_obj
def doctor(invocation: Invocation, /) -> None:
    """Check the settings, the daemon and its store, one by one; exit code 5 when something is wrong.

    Where a team's server is set, it and the tenant are checked, and no store of this machine.

    \b
    helix doctor
    """
    findings = list(_findings(invocation))
    healthy = all(finding["ok"] for finding in findings)

    def show(out: Output) -> None:
        for finding in findings:
            mark = ("ok    ", "green") if finding["ok"] else ("WRONG ", "bold red")
            out.line(mark, (f"{finding['check']}: ", "bold"), finding["detail"])
            if finding["hint"] and not finding["ok"]:
                out.line(f"hint: {finding['hint']}", indent=6)

    invocation.emit({"doctor": {"healthy": healthy, "findings": findings}}, show)
    if not healthy:
        raise click.exceptions.Exit(StoreError.exit_code)


@command(
    "pause",
    "pause",
    "helix pause",
    "helix pause --off",
    says="Take nothing new in until `helix pause --off`: no memory, episode, import, gap or session, and no background "
    "job.\n\nRecall goes on, and so does what you do to what is there: edit, forget, confirm, resolve, undo.",
    on=As("--on/--off", is_flag=None, default=True, show_default=False, help="Stop capturing, or go on with it."),
)
def _pause(out: Output, paused: bool) -> None:
    words = "paused: nothing new is ingested and no background job runs until `helix pause --off`"
    out.line(words if paused else "not paused: capture and background work go on")


def _show_ready(invocation: Invocation, found: daemon.Daemon, warnings: tuple[str, ...]) -> None:
    invocation.emit({"serve": asdict(found)}, lambda out: out.line(found.url))
    sys.stdout.flush()
    if not invocation.json:
        for warning in warnings:
            invocation.say(f"warning: {warning}")
        invocation.say(f"serving {invocation.settings.store_path} in process {found.pid}")
        invocation.say('try: helix recall "...", or helix open for the explorer; helix stop ends it')


def _absence(settings: Settings) -> str:
    store = settings.store_path
    if is_locked(store):
        return f"no daemon answers; {store} is open in process {owner_of(store)}"
    return f"no daemon runs for {store}; the next command starts one"


def _show_team(invocation: Invocation) -> None:
    """Show what is asked in place of a daemon: the team's server, and the key's tenant there."""
    settings = invocation.settings
    data, here = invocation.run("status"), project_here(settings, Path.cwd()).scope
    report = data["status"]
    head = {
        "server": f"{settings.server}, Helix {report['version']}; no store of this machine is asked",
        "opened": moment(report["startedAt"]),
        "tenant": report["store"],
    }
    invocation.emit(
        {**data, "daemon": None, "server": settings.server, "scope": here},
        lambda out: _show_report(out, head, report, here),
    )


def _show_status(out: Output, report: dict[str, Any], found: daemon.Daemon, here: str) -> None:
    leaves = (
        f"leaves after {found.idle_minutes:g} unused minutes" if found.idle_minutes else "stays until it is stopped"
    )
    head = {
        "daemon": f"{found.url}, process {found.pid}, Helix {found.version}, {leaves}",
        "started": moment(report["startedAt"]),
        "store": report["store"],
    }
    _show_report(out, head, report, here)


def _show_report(out: Output, head: dict[str, str], report: dict[str, Any], here: str) -> None:
    out.fields(
        {
            **head,
            "this folder": f"its scope is {here}",
            "recall": report["mode"],
            "model": f"{report['model']} ({report['dimension']} dimensions)"
            if report["dimension"]
            else report["model"],
            "paused": "yes: `helix pause --off` ends it" if report["paused"] else None,
            "nodes": {name: count for name, count in by_name(report["nodes"]).items() if count},
            "edges": report["edges"],
            "journal": f"{report['journalRows']} rows, {printed_size(report['journalBytesWeek'])} in the last week"
            f" ({report['durability']})",
            "in the graph": f"up to row {report['appliedSeq']}",
            "set aside": f"{report['refused']} changes: `helix doctor` tells" if report["refused"] else None,
            "disk": {name: printed_size(count) for name, count in by_name(report["diskBytes"]).items()},
            "memory": printed_size(report["memoryBytes"]),
            "held back": _held_back(report["holdback"]),
            **_background(report["background"]),
            **_models(report["models"]),
        }
    )
    for job in report["jobs"]:
        if job["state"] == "RUNNING":
            out.line((f"at work: {job['kind']} ", "bold"), f"{job['done']} of {job['total'] or '?'} {job['message']}")
    for warning in report["warnings"]:
        out.line(("warning: ", "bold yellow"), warning)


def _held_back(share: float) -> str:
    if share == 0:
        return "nothing: setting holdback is 0, so `helix report` cannot compare new tasks"
    return f"{share:.0%} of the tasks get no memories, so that `helix report` can compare; setting holdback 0 ends it"


def _background(work: dict[str, Any]) -> dict[str, Any]:
    told = [f"{work['running']['kind']} at work, {work['progress'] or 'begun'}" if work["running"] else ""]
    told += [f"{work[name]} {name}" if work[name] else "" for name in ("queued", "failed")]
    told += ["paused: `helix work --go-on` ends it" if work["paused"] else ""]
    told += [f"importance {work['importance']:g} of {work['budget']:g} until the next consolidation"]
    return {"background": "; ".join(filter(None, told)), "gate": gate_line(work["gate"])}


def _models(models: dict[str, Any]) -> dict[str, Any]:
    told = {"language models": models["standing"]}
    for provider in models["providers"]:
        waits = provider["state"].startswith((NOT_CONFIRMED, NOT_INSTALLED))
        if provider["ready"] or provider["trouble"] or waits:
            words = (
                f"ready at {provider['place']}"
                if provider["ready"]
                else f"{provider['state']} {provider['trouble']}".strip()
            )
            told[f"model {provider['model']}"] = f"{'free' if provider['free'] else 'paid'}, {words}"
    for spend in models["spend"][:3]:
        tokens = f"{spend['tokensIn'] + spend['tokensOut']:,} tokens, {spend['cost']:.4f} US$"
        told[f"spent {spend['month']} on {spend['provider']}"] = f"{spend['calls']} calls, {tokens}"
    return told


def _findings(invocation: Invocation) -> Iterator[dict[str, Any]]:
    asked = "daemon"
    try:
        settings = invocation.settings
        server = settings.server
        asked = "server" if server else asked
        where = f"commands ask {server}, no store of this machine" if server else f"the store is {settings.store_path}"
        yield _finding("settings", True, where)
        strange = strange_variables(misspelt=True)
        yield _finding("variables", not strange, "; ".join(strange) or "each is known", "`helix config` lists them all")
        if not server:
            yield from privacy_findings(settings)
        found = invocation.run("doctor")["doctor"]["findings"]
    except HelixError as error:
        yield _finding(asked, False, error.message, error.hint)
        return
    yield _finding(asked, True, f"answers at {invocation.client().url}")
    yield from found


def _finding(check: str, ok: bool, detail: str, hint: str | None = None) -> dict[str, Any]:
    return {"check": check, "ok": ok, "detail": detail, "hint": hint or ""}
