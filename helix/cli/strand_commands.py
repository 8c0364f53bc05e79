"""The commands strand, sync and keys: memory that is carried, and who signs it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from helix.cli.declared import Show, ask, asking, command, group
from helix.cli.invocation import Invocation
from helix.cli.options import As, flag
from helix.cli.output import Output, one_line, printed_label, printed_text
from helix.cli.render import moment, table
from helix.model.strand import is_shared
from helix.processes import PASSPHRASE, SYNC_TOKEN
from helix.scopes import EVERYWHERE

Record = Mapping[str, Any]

_FILE = As("file")
_PLAN = As("--plan")
_LONGEST = 1_000
_NEVER = None  # a passphrase never stands in a command line, where other users of the machine can read it

group(
    "strand",
    "Carry the store to another machine or person, and import what they carry.\n\n"
    "A strand is one file, signed and encrypted. The passphrase is asked for, or taken from HELIX_PASSPHRASE.",
    "helix strand export project.dna --scope github.com/acme/api",
    "helix strand import project.dna --plan",
)


def _passphrase(*, new: bool) -> str | None:
    """Return the passphrase of the environment, or what is typed; None where nobody can be asked."""
    if given := os.environ.get(PASSPHRASE):
        return given
    if not sys.stdin.isatty():
        return None
    typed: str = click.prompt("Passphrase", hide_input=True, confirmation_prompt=new, err=True)
    return typed


def _opening(invocation: Invocation, path: Path) -> str | None:
    """Return the passphrase of a strand, which is asked for only where no key here opens it."""
    (info,) = invocation.run("inspect_strand", path=path).values()
    if info["trust"] is None:
        return None  # it is refused, whatever opens it
    (keys,) = invocation.run("keys").values()
    sealed = {way for way in info["opensWith"] if way != "a passphrase"}
    if sealed and any(key["own"] for key in keys) and "a passphrase" not in info["opensWith"]:
        return None
    return _passphrase(new=False)


@asking(
    "strand export",
    "export_strand",
    "helix strand export everything.dna",
    "helix strand export project.dna --scope github.com/acme/api --to laptop",
    path=_FILE,
    scopes=As("--scope", metavar="SCOPE"),
    recipients=As("--to", metavar="KEY"),
    passphrase=_NEVER,
    history=As(type=click.Choice(["none", "all", "since"])),
)
def _export(invocation: Invocation, path: str, **asked: Any) -> None:
    if EVERYWHERE in asked.get("scopes", ()):
        del asked["scopes"]
    secret = None if asked.get("recipients") else _passphrase(new=True)
    given = {**asked, "path": Path(path).absolute(), **({} if secret is None else {"passphrase": secret})}
    ask(invocation, "export_strand", given, _exported, cancels=True)


def _exported(out: Output, result: Record) -> None:
    out.line(f"version {result['version'][:12]} is in {result['path']}")
    out.say(f"{_so_many(result['nodes'], 'nodes')} and {_so_many(result['edges'], 'edges')}")
    if not any(result[one] for one in ("nodes", "edges", "gone")):
        out.say("it is empty: nothing is stored that fits; `helix list --scope all` shows the scopes")


@asking(
    "strand merge",
    "import_strand",
    "helix strand merge colleague.dna --plan",
    path=_FILE,
    passphrase=_NEVER,
    plan=_PLAN,
    says="Merge a strand into the store: another name of `helix strand import`.",
)
@asking(
    "strand import",
    "import_strand",
    "helix strand import project.dna --plan",
    "helix strand import project.dna",
    path=_FILE,
    passphrase=_NEVER,
    plan=_PLAN,
)
def _import(invocation: Invocation, path: str, **asked: Any) -> None:
    _taking(invocation, "import_strand", path, asked, _planned if asked.get("plan") else _taken)


@asking(
    "strand clone", "clone_strand", "helix strand clone project.dna ./copy", path=_FILE, to=As("dir"), passphrase=_NEVER
)
def _clone(invocation: Invocation, path: str, to: str, **asked: Any) -> None:
    _taking(invocation, "clone_strand", path, {**asked, "to": Path(to).absolute()}, _cloned)


def _cloned(out: Output, result: Record) -> None:
    out.line(f"a new store of version {result['version'][:12]} is in {result['path']}")
    out.say(_counted(result["counts"]))
    out.say(f"`helix --store {shlex.quote(result['path'])} list --scope all` shows what it holds")


def _taking(invocation: Invocation, operation: str, path: str, asked: Record, show: Show) -> None:
    file = Path(path).absolute()
    secret = _opening(invocation, file)
    given = {**asked, "path": file, **({} if secret is None else {"passphrase": secret})}
    ask(invocation, operation, given, show, cancels=True)


def _planned(out: Output, result: Record) -> None:
    _taken(out, result)
    if not result.get("already"):
        out.say("nothing was written: that is what it would come to; without --plan it is imported")


def _taken(out: Output, result: Record) -> None:
    if result.get("already"):
        out.line(f"version {result['version'][:12]} was imported already: nothing was changed")
        out.say("`helix strand diff` with the file shows what this store has otherwise by now")
        return
    for line in result["examples"]:
        out.line(printed_text(line), indent=2)
    out.say(f"version {result['version'][:12]} of {printed_text(result['signer'])}: {_counted(result['counts'])}")
    if result.get("job"):
        out.say(f"`helix undo {result['job']}` takes it back")
    _say_of(out, result["counts"])


def _counted(counts: Record) -> str:
    return ", ".join(_so_many(count, name) for name, count in counts.items()) or "nothing new"


def _so_many(count: int, name: str) -> str:
    """Return a count with its name, whose first word is in the plural: `1 memory added`, `2 memories added`."""
    word, blank, rest = name.partition(" ")
    if count == 1:
        word = f"{word.removesuffix('ies')}y" if word.endswith("ies") else word.removesuffix("s")
    return f"{count} {word}{blank}{rest}"


def _say_of(out: Output, counts: Record) -> None:
    """Say what a person may have to do about what came in."""
    if counts.get("changes refused"):
        out.say("changes refused: of what is believed more here than who signed them; it stays as it is")
    if counts.get("versions left standing"):
        out.say("versions left standing: older words were forgotten or held elsewhere, and these say something else")
    if counts.get("contradictions to decide"):
        out.say("`helix contradictions` shows what is to be decided")


@asking(
    "strand inspect",
    "inspect_strand",
    "helix strand inspect project.dna",
    path=_FILE,
    verify=None,
)
def _inspect(invocation: Invocation, path: str) -> None:
    ask(invocation, "inspect_strand", {"path": Path(path).absolute()}, _shown)


@asking(
    "strand verify",
    "inspect_strand",
    "helix strand verify project.dna",
    path=_FILE,
    verify=None,
    says="Check every byte of a strand and its signature; it is not opened, and takes no passphrase.",
)
def _verify(invocation: Invocation, path: str) -> None:
    ask(invocation, "inspect_strand", {"path": Path(path).absolute(), "verify": True}, _shown)


def _one_line(text: str) -> str:
    """Return what a strand says of itself in one line: more of them would look like what Helix says of it."""
    return printed_text(one_line(text, _LONGEST))


_HISTORIES = {
    "none": "none of the log's changes",
    "all": "all of the log's changes, to be read; an import passes them over",
    "since": "the log's changes since then, to be read; an import passes them over",
}


def _shown(out: Output, info: Record) -> None:
    known = info["knownAs"] or f"an unknown key that calls itself {_one_line(info['createdBy'])}"
    believed = f"believed as {info['trust'].lower()}" if info["trust"] else "not believed: it is unknown or revoked"
    out.line((f"version {info['version'][:12]}", "bold"), f"  signed by {known}, {believed}")
    out.fields(
        {
            "written": moment(info["createdAt"]),
            "why": _one_line(info["why"]),
            "holds": "only what changed since " + info["since"][:12] if info["since"] else "all of what it is of",
            "scopes": ", ".join(map(_one_line, info["scopes"])),
            "history": _HISTORIES.get(info["history"], _one_line(info["history"])),
            "opens with": ", ".join(info["opensWith"]),
            "key": f"helix-key1:{info['signer']}",
            "root": info["root"],
            **{one["name"]: one["value"] for one in info["counts"]},
        }
    )
    if not info["knownAs"]:
        out.say("where you know whose key that is: `helix keys import NAME KEY` has it known here")
    out.say("every byte is as it was signed" if info["verified"] else "`helix strand verify` checks every byte")


@command(
    "strand log",
    "strand_log",
    "helix strand log",
    none="no strand was written or imported yet",
)
def _log(out: Output, found: Sequence[Record]) -> None:
    for one in found:
        tag = f"  [{_one_line(one['tag'])}]" if one["tag"] else ""
        there = "" if one["held"] else "  (imported)"
        what = "all" if one["scopes"] is None else ", ".join(map(_one_line, one["scopes"]))
        if one["nodes"] is not None:
            what += f", what a question found: {_so_many(one['nodes'], 'nodes')}"
        said = f"  {moment(one['at'])}  {_one_line(one['who'])}{tag}{there}  {what}  {_one_line(one['why'])}"
        out.line((one["id"][:12], "bold"), said)


@asking(
    "strand diff",
    "diff_strands",
    "helix strand diff project.dna",
    "helix strand diff old.dna new.dna --json",
    path=_FILE,
    other=As("other", required=False),
    passphrase=_NEVER,
)
def _diff(invocation: Invocation, path: str, other: str | None = None) -> None:
    file = Path(path).absolute()
    secret = _opening(invocation, file)
    given = {"path": file, **({} if other is None else {"other": Path(other).absolute()})}
    ask(invocation, "diff_strands", {**given, **({} if secret is None else {"passphrase": secret})}, _differing)


def _differing(out: Output, found: Record) -> None:
    for line in found["lines"]:
        out.line(printed_text(line))
    for scope in found["scopes"]:
        counts = ", ".join(f"{one['value']} {one['name']}" for one in scope["value"])
        out.say(f"{printed_label(scope['name']) or 'no scope'}: {counts}")
    if not found["scopes"]:
        out.say("they hold the same")


@command("strand rollback", "roll_back_to", "helix strand rollback before-the-move", version=As("version"))
def _rolled_back(out: Output, result: Record) -> None:
    if not result["job"]:
        out.line(f"nothing was changed: the store holds just that already, as version {result['version'][:12]}")
        return
    out.line(f"the store is as it was: {_so_many(result['restored'], 'rows')} restored, {result['removed']} removed")
    out.say(f"that is version {result['version'][:12]}; `helix undo {result['job']}` takes it back")


command(
    "strand tag",
    "tag_version",
    "helix strand tag 3f2a before-the-move",
    show=_log,
    version=As("version"),
    tag=As("tag"),
)


@asking(
    "sync",
    "sync",
    "helix sync /media/stick/helix",
    "helix sync git@example.org:me/memory.git --watch 15",
    "helix sync https://memory.example.org/sync/v1 --scope acme/api",
    "helix sync --forget /media/stick/helx",
    says="Have your machines hold the same, by way of a folder, a git repository, a bucket or a shared Helix.\n\n"
    "Each leaves signed and encrypted strands there, and imports what the others left. Without a place, those are "
    "shown that were synced with. A shared Helix wants a token: it is asked for, or taken from HELIX_SYNC_TOKEN. It "
    "gets the scopes that you name, where it shares just these.",
    place=As("place", required=False),
    passphrase=_NEVER,
    token=_NEVER,
    scopes=As("--scope", metavar="SCOPE", help="Only these scopes from now on; `all` for the whole store again."),
    watch=As("--watch", metavar="MINUTES", type=float, help="Do it in the background, every so many minutes."),
    off=flag("--off", words="Stop doing it in the background."),
    forget=flag("--forget", words="Stop syncing with the place, and forget it."),
    locked=flag("--locked", words="Ask for a passphrase that the strands are locked with."),
)
def _sync(invocation: Invocation, place: str | None = None, **asked: Any) -> None:
    watch, off, forget, locked = (asked.pop(name, None) for name in ("watch", "off", "forget", "locked"))
    if place is None and forget:
        raise click.UsageError("--forget wants a place: `helix sync` shows them")
    if place is None:
        ask(invocation, "synced_places", {}, _places, none="this store was not synced with any place yet")
        return
    if watch is not None and off:
        raise click.UsageError("--watch and --off are two things: give one of them")
    if "://" not in place and not (":" in place and not Path(place).exists()):
        place = os.path.normpath(Path(place).expanduser().absolute())  # each spelling is a place of its own
    if forget:
        ask(invocation, "forget_place", {"place": place}, _forgotten)
        return
    if EVERYWHERE in asked.get("scopes", ()):
        asked["scopes"] = ()
    if watch is not None or off:
        scopes = {"scopes": asked["scopes"]} if "scopes" in asked else {}
        ask(invocation, "watch_sync", {"place": place, **scopes, **({} if off else {"minutes": watch})}, _places)
        return
    secret = _passphrase(new=False) if locked else os.environ.get(PASSPHRASE)
    secrets = {"passphrase": secret, "token": _token(invocation, place)}
    given = {**asked, "place": place, **{name: value for name, value in secrets.items() if value}}
    ask(invocation, "sync", given, _synced, cancels=True)


def _forgotten(out: Output, result: Record) -> None:
    out.line(f"{printed_text(result['place'])} is forgotten: this store no longer syncs with it. Nothing is lost here")
    left = result["left"]
    stay = "this store had left nothing there"
    if left:
        stay = f"what this store left there stays, {_so_many(left, 'strands')}"
    out.say(f"{stay}; `helix sync` with the place again begins anew")
    if result["erased"]:
        out.say("they still have what was erased here since the last sync; another sync with the place replaces them")


def _token(invocation: Invocation, place: str) -> str | None:
    """Return the token for a shared Helix: of the environment, or what is typed where none is known yet."""
    if not is_shared(place):
        return None
    if (given := os.environ.get(SYNC_TOKEN)) or not sys.stdin.isatty():
        return given
    (known,) = invocation.run("synced_places").values()
    if any(one["place"] == place.rstrip("/") and not one["error"] for one in known):
        return None
    typed: str = click.prompt("Token", hide_input=True, err=True)
    return typed


def _synced(out: Output, result: Record) -> None:
    came = f": {_counted(result['counts'])}" if result["taken"] else ""
    out.line(f"{_so_many(result['taken'], 'strands')} imported{came}")
    out.line("what this store holds was left there" if result["published"] else "there was nothing to leave")
    for problem in result["problems"]:
        out.line((printed_text(problem), "bold"))
    for job in reversed(result["jobs"]):
        out.say(f"`helix undo {job}` takes back what came in, later on your other machines, too")
    _say_of(out, result["counts"])


def _places(out: Output, found: Sequence[Record]) -> None:
    for one in found:
        scopes = ", ".join(map(printed_text, one["scopes"] or ()))
        often = "when asked" if one["minutes"] is None else f"every {one['minutes']:g} minutes"
        last = f"last {moment(one['at'])}" if one["at"] else "not yet"
        out.line((printed_text(one["place"]), "bold"), f"  {often}, {last}" + (f"; {scopes} alone" if scopes else ""))
        for problem in [one["error"], *one["problems"]]:
            if problem:
                out.line(printed_text(problem), indent=2)
    if any(one["error"] for one in found):
        out.say("`helix sync --forget PLACE` forgets a place that is none")


group(
    "keys",
    "Make the keys that sign strands, and say whose strands are believed.",
    "helix keys new laptop",
    "helix keys list",
)


@command("keys new", "new_key", "helix keys new laptop")
def _new_key(out: Output, key: Record) -> None:
    out.line(key["public"])
    out.say(f"others know it by that: `helix keys import {key['name']} {key['public']}`")


@command("keys list", "keys", "helix keys list", none="there is no key yet: `helix keys new NAME` makes one")
def _keys(out: Output, found: Sequence[Record]) -> None:
    rows = [
        {**key, "whose": "yours" if key["own"] else "revoked" if key["revokedAt"] else key["trust"].lower()}
        for key in found
    ]
    table(out, rows, {"NAME": "name", "BELIEVED": "whose", "KEY": "public"})


@asking(
    "keys export",
    "keys",
    "helix keys export laptop",
    says="Print the public part of a key, for those who are to read what it signs or to seal strands for it.",
    name=As("name", required=True),
)
def _public(invocation: Invocation, name: str) -> None:
    def shown(out: Output, found: Sequence[Record]) -> None:
        for key in found:
            if key["name"] == name:
                out.line(key["public"])
                return
        raise click.UsageError(f"no key is called {name}: `helix keys list` shows them")

    ask(invocation, "keys", {}, shown)


command(
    "keys import",
    "import_key",
    "helix keys import desktop helix-key1:5f1c...",
    show="{name} is known; `helix keys trust {name} --as user_asserted` believes it as yours",
)
command(
    "keys trust",
    "trust_key",
    "helix keys trust desktop --as user_asserted",
    "helix keys trust colleague --as tool_output",
    show="{name} is believed as {trust}",
    trust=As("--as"),
)
command("keys revoke", "revoke_key", "helix keys revoke desktop", show="{name} is no longer believed")


group(
    "share",
    "Share scopes of the memory over HTTP with the holders of keys.\n\n"
    "They sync with /sync/v1 of this daemon, by a proxy or a tunnel: `helix sync https://HOST/sync/v1`.",
    "helix share new ada --scope github.com/acme/api",
    "helix share list",
)


@command(
    "share new",
    "new_share",
    "helix share new ada --scope github.com/acme/api",
    "helix share new ada --scope github.com/acme/api --no-write",
    key=As("key"),
    scopes=As("--scope", metavar="SCOPE"),
)
def _new_share(out: Output, share: Record) -> None:
    out.line(share["token"])
    out.say(f"that is the token of {printed_text(share['name'])}; it is not told again. They give it to `helix sync`")


@command("share list", "shares", "helix share list", none="nothing is shared: `helix share new KEY --scope SCOPE` does")
def _shares(out: Output, found: Sequence[Record]) -> None:
    rows = [
        {
            "name": printed_text(share["name"]),
            "rights": "read and write" if share["write"] else "read",
            "since": moment(share["since"]),
            "scopes": ", ".join(map(printed_text, share["scopes"])),
        }
        for share in found
    ]
    table(out, rows, {"NAME": "name", "RIGHTS": "rights", "SINCE": "since", "SCOPES": "scopes"})


command("share revoke", "revoke_share", "helix share revoke ada", show="{name} is no longer shared")
